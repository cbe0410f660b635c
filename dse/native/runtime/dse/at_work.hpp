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
  std::atomic<int> action{-1};                   // that fires and may go on for ever; -1: none, or not known
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

/// The place of this thread, where it has one and runs an actor.
inline constinit thread_local WorkPlace* work_place = nullptr;

/// Say which action of the actor at work fires, if it may go on for ever; -1: it has ended.
inline void note_action(int action) {
  if (work_place != nullptr) {
    work_place->action.store(action, std::memory_order_relaxed);
  }
}

/// While it lives, this thread runs an actor, which had made `firings` before.
class AtWork {
 public:
  AtWork(const ActorInfo& info, std::int64_t firings) {
    thread_local WorkPlace* const own = take_work_place();
    work_place = own;
    actor_at_work = &info;
    if (own != nullptr) {
      own->firings.store(firings, std::memory_order_relaxed);
      own->actor.store(&info, std::memory_order_relaxed);
    }
  }
  AtWork(const AtWork&) = delete;
  AtWork& operator=(const AtWork&) = delete;
  ~AtWork() {
    actor_at_work = nullptr;
    if (work_place != nullptr) {
      work_place->actor.store(nullptr, std::memory_order_relaxed);
      work_place->action.store(-1, std::memory_order_relaxed);
    }
  }
};

}  // namespace dse
