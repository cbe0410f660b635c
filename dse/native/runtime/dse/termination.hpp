// How the threads of a run find out together that no token will move any more.
//
// A thread works in passes. A pass looks at everything that the thread may run now; it is fruitless if no token moved,
// and clean if nothing fired either. Each thread has a slot on cache lines of its own, with an epoch that is even while
// the thread works and odd after a fruitless pass. It changes only when the thread turns from one to the other, so a
// thread that works writes nothing here.
//
// When all epochs are odd, whoever notices notes them and puts up a request, a number. Each thread reads the request
// before a pass, and confirms the number after the pass if that was clean. When all have confirmed it, and the epochs
// are the noted ones, the run is over. Why that is right:
//   - A thread publishes all that it moved before it makes its epoch odd. The request was put up after all the odd
//     epochs were read (acquire), and the pass that confirms began after the request was read (acquire). So that pass
//     saw all tokens that had moved before the request.
//   - No token moved between a thread's noted epoch and its confirmation: a pass that moves one makes the epoch even
//     before the thread confirms anything (release), and who reads the confirmation (acquire) reads the epoch after it.
//   - Suppose that a token moved after the request, and take the first such move, by thread X. It came after the
//     confirmation of X. The clean pass of X had seen all tokens there were, and found nothing that can fire; nothing
//     has changed since. What an actor does depends on its state and tokens only. So there is no such move.
// Guards that call natives may change by themselves; they are tried again in each clean pass, as the Python execution
// does once before it ends.
//
// Where threads fire without moving tokens, the epochs are odd too. The idle firings of each thread are counted from
// the request on. The run is over when each thread has confirmed it by a clean pass or made so many of them: one that
// is still in the middle of a long firing, or has a few more idle ones before it, may yet move a token.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "dse/fifo.hpp"
#include "dse/halt.hpp"

namespace dse {

/// Which actor a thread may pass over, for whose turn in a static order it waits.
enum class Skip : std::uint8_t {
  none,
  ended,  // one that nobody can help: it waits neither for tokens nor for room
  any,    // each, if another one behind it can fire
};

/// What one thread tells the others.
struct alignas(cache_line_bytes) Slot {
  std::atomic<std::uint64_t> epoch{0};
  std::atomic<std::uint64_t> confirmed{0};    // request seen before the last clean pass
  std::atomic<std::int64_t> idle_firings{0};  // in fruitless passes
  std::atomic<std::int64_t> firings{0};       // all, as of the last pass
  std::atomic<bool> may_skip{false};          // it waits for the turn of an actor of a static order
  std::atomic<Skip> skip{Skip::none};         // and is asked to pass over that actor; the thread takes this back
  /// How often the thread has run out of work. It has a line of its own, which others look at while they wait.
  alignas(cache_line_bytes) std::atomic<std::uint64_t> waits{0};
};

class Termination {
 public:
  Termination(Halt& halt, std::size_t threads, std::int64_t idle_firings)
      : halt_(halt),
        slots_(threads),
        idle_firings_(idle_firings),
        idle_step_(idle_firings / 64 + 1),
        noted_slots_(threads) {}

  Slot& slot(std::size_t thread) { return slots_[thread]; }

  /// The number to confirm by the next pass.
  std::uint64_t request() const { return request_.load(std::memory_order_acquire); }

  /// A token moved in a pass.
  static void works(Slot& slot) {
    const std::uint64_t epoch = slot.epoch.load(std::memory_order_relaxed);
    if (epoch % 2 == 1) {
      slot.epoch.store(epoch + 1, std::memory_order_release);
    }
  }

  /// Take over what somebody tells who keeps the slot of a thread elsewhere. What is said there of slots holds for this
  /// one too: the confirmation must have been read before the epoch, both with acquire. A slot that is taken over late
  /// is one of a thread that reports late.
  void mirrors(Slot& slot, std::uint64_t confirmed, std::uint64_t epoch, std::int64_t idle_firings) {
    const bool new_epoch = slot.epoch.load(std::memory_order_relaxed) != epoch;
    const bool new_confirmation = slot.confirmed.load(std::memory_order_relaxed) != confirmed;
    const std::int64_t before = slot.idle_firings.load(std::memory_order_relaxed);
    slot.idle_firings.store(idle_firings, std::memory_order_relaxed);
    slot.epoch.store(epoch, std::memory_order_release);
    slot.confirmed.store(confirmed, std::memory_order_release);
    if (epoch % 2 == 1 && (new_epoch || new_confirmation || idle_firings / idle_step_ != before / idle_step_)) {
      judge();
    }
  }

  /// No token moved in a pass that began after `seen` was the request, and `firings` were made.
  void idles(Slot& slot, std::uint64_t seen, std::int64_t firings) {
    const bool clean = firings == 0;
    const bool working = slot.epoch.load(std::memory_order_relaxed) % 2 == 0;
    if (!working && clean && slot.confirmed.load(std::memory_order_relaxed) == seen) {
      return;  // nothing new
    }
    const std::int64_t before = slot.idle_firings.load(std::memory_order_relaxed);
    slot.idle_firings.store(before + firings, std::memory_order_relaxed);
    if (working) {
      slot.epoch.fetch_add(1, std::memory_order_release);
    }
    if (clean) {
      slot.confirmed.store(seen, std::memory_order_release);
    }
    if (working || clean || (before + firings) / idle_step_ != before / idle_step_) {
      judge();
    }
  }

 private:
  /// A thread as it was when all epochs were odd.
  struct Noted {
    std::uint64_t epoch = 0;
    std::int64_t idle_firings = 0;
  };

  /// Look whether the run is over. Who reports last, in the order of the lock, sees what all others reported.
  void judge() {
    const std::lock_guard lock(mutex_);
    bool clean = true;
    bool spent = true;
    bool noted = noted_;
    for (std::size_t k = 0; k != slots_.size(); ++k) {
      const Slot& slot = slots_[k];
      // The confirmation first: the epoch that is read after it is at least as new.
      const bool confirmed = slot.confirmed.load(std::memory_order_acquire) == request();
      const std::int64_t idle = slot.idle_firings.load(std::memory_order_relaxed);
      const std::uint64_t epoch = slot.epoch.load(std::memory_order_acquire);
      if (epoch % 2 == 0) {
        noted_ = false;
        return;
      }
      clean = clean && confirmed;
      spent = spent && (confirmed || idle - noted_slots_[k].idle_firings >= idle_firings_);
      noted = noted && noted_slots_[k].epoch == epoch;
    }
    if (!noted) {
      note();
      ask();
    } else if (clean || spent) {
      finish(clean ? Why::quiescent : Why::livelock);
    }
  }

  void note() {
    noted_ = true;
    skips_asked_ = 0;
    for (std::size_t k = 0; k != slots_.size(); ++k) {
      noted_slots_[k] = {.epoch = slots_[k].epoch.load(std::memory_order_acquire),
                         .idle_firings = slots_[k].idle_firings.load(std::memory_order_relaxed)};
    }
  }

  /// No thread can do anything as things are. Those that wait for a turn are asked to pass over it, one after the
  /// other, since what one of them does then may be what another waits for; first where the actor has surely ended.
  void finish(Why why) {
    while (skips_asked_ != 2 * slots_.size()) {
      const std::size_t number = skips_asked_++;
      Slot& slot = slots_[number % slots_.size()];
      if (slot.may_skip.load(std::memory_order_acquire)) {
        slot.skip.store(number < slots_.size() ? Skip::ended : Skip::any, std::memory_order_release);
        ask();
        return;
      }
    }
    halt_.stop(why);
  }

  void ask() {
    request_.fetch_add(1, std::memory_order_release);
    halt_.wake_all();
  }

  Halt& halt_;
  std::deque<Slot> slots_;
  const std::int64_t idle_firings_;
  const std::int64_t idle_step_;  // so many more are worth a look; threads would else wait for each other's looks
  alignas(cache_line_bytes) std::atomic<std::uint64_t> request_{0};
  alignas(cache_line_bytes) std::mutex mutex_;
  std::vector<Noted> noted_slots_;
  bool noted_ = false;
  std::size_t skips_asked_ = 0;  // since then: of each thread twice, at most
};

}  // namespace dse
