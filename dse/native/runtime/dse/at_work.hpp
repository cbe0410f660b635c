// Which actor a thread runs, for messages about crashes, about programs that do not end, and for what it prints.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "dse/tables.hpp"

namespace dse {

/// The actor that this thread runs; null between actors.
inline constinit thread_local const ActorInfo* actor_at_work = nullptr;

/// What one thread is at, to be read by a handler of signals on any thread.
struct alignas(64) WorkPlace {
  std::atomic<const ActorInfo*> actor{nullptr};  // null between actors
  std::atomic<std::int64_t> firings{0};          // that the actor had made before
};
static_assert(std::atomic<const ActorInfo*>::is_always_lock_free && std::atomic<std::int64_t>::is_always_lock_free);

/// The places of the first threads that ran actors; what further threads are at is not told. No place is given back: a
/// process has one run.
inline std::array<WorkPlace, 256> work_places;
inline std::atomic<std::size_t> work_places_taken{0};

/// Return the place of the calling thread, null where there are too many.
inline WorkPlace* take_work_place() {
  const std::size_t number = work_places_taken.fetch_add(1, std::memory_order_relaxed);
  return number < work_places.size() ? &work_places[number] : nullptr;
}

/// While it lives, this thread runs an actor, which had made `firings` before.
class AtWork {
 public:
  AtWork(const ActorInfo& info, std::int64_t firings) {
    thread_local WorkPlace* const own = take_work_place();
    place_ = own;
    actor_at_work = &info;
    if (place_ != nullptr) {
      place_->firings.store(firings, std::memory_order_relaxed);
      place_->actor.store(&info, std::memory_order_relaxed);
    }
  }
  AtWork(const AtWork&) = delete;
  AtWork& operator=(const AtWork&) = delete;
  ~AtWork() {
    actor_at_work = nullptr;
    if (place_ != nullptr) {
      place_->actor.store(nullptr, std::memory_order_relaxed);
    }
  }

 private:
  WorkPlace* place_;
};

}  // namespace dse
