// How the threads of a run find out together that no token will move any more.
//
// A thread works in passes. A pass looks at everything that the thread may run now; it is fruitless if no token moved,
// and clean if nothing fired either. Each thread has a slot on cache lines of its own, with an epoch that is even while
// the thread works and odd after a fruitless pass. It changes only when the thread turns from one to the other, so a
// thread that works writes nothing here.
//
// When all epochs are odd, whoever notices notes them and puts up a request, a number. Each thread reads the request
// before a pass, and confirms the number after the pass if that was fruitless, and apart if it was clean. When all have
// confirmed it by a clean pass, and the epochs are the noted ones, the run is over. Why that is right:
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
// Where threads fire without moving tokens, the epochs are odd too. When all have confirmed the request, all have found
// nothing but idle firings since the last token moved, and the firings since the request are counted.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "dse/fifo.hpp"
#include "dse/halt.hpp"

namespace dse {

/// What one thread tells the others.
struct alignas(cache_line_bytes) Slot {
  std::atomic<std::uint64_t> epoch{0};
  std::atomic<std::uint64_t> confirmed{0};        // request seen before the last fruitless pass
  std::atomic<std::uint64_t> confirmed_clean{0};  // and before the last clean one
  std::atomic<std::int64_t> idle_firings{0};      // in fruitless passes
  std::atomic<std::int64_t> firings{0};           // all, as of the last pass
  std::atomic<bool> may_skip{false};              // it waits for the turn of an actor of a static order
};

class Termination {
 public:
  Termination(Halt& halt, std::size_t threads, std::int64_t idle_firings)
      : halt_(halt), slots_(threads), idle_firings_(idle_firings), epochs_(threads, 0) {}

  Slot& slot(std::size_t thread) { return slots_[thread]; }

  /// The number to confirm by the next pass.
  std::uint64_t request() const { return request_.load(std::memory_order_acquire); }

  /// How often threads were asked to pass over an actor for whose turn they wait, since nothing else moves.
  std::uint64_t skips() const { return skips_.load(std::memory_order_acquire); }

  /// A token moved in a pass.
  static void works(Slot& slot) {
    const std::uint64_t epoch = slot.epoch.load(std::memory_order_relaxed);
    if (epoch % 2 == 1) {
      slot.epoch.store(epoch + 1, std::memory_order_release);
    }
  }

  /// No token moved in a pass that began after `seen` was the request, and `firings` were made.
  void idles(Slot& slot, std::uint64_t seen, std::int64_t firings) {
    const bool clean = firings == 0;
    const bool working = slot.epoch.load(std::memory_order_relaxed) % 2 == 0;
    if (!working && clean && slot.confirmed_clean.load(std::memory_order_relaxed) == seen) {
      return;  // nothing new
    }
    const std::int64_t before = slot.idle_firings.load(std::memory_order_relaxed);
    slot.idle_firings.store(before + firings, std::memory_order_relaxed);
    if (working) {
      slot.epoch.fetch_add(1, std::memory_order_release);
    }
    slot.confirmed.store(seen, std::memory_order_release);
    if (clean) {
      slot.confirmed_clean.store(seen, std::memory_order_release);
    }
    judge();
  }

 private:
  /// Look whether the run is over. Who reports last, in the order of the lock, sees what all others reported.
  void judge() {
    const std::lock_guard lock(mutex_);
    bool confirmed = true;
    bool clean = true;
    bool noted = noted_;
    std::int64_t idle = 0;
    for (std::size_t k = 0; k != slots_.size(); ++k) {
      const Slot& slot = slots_[k];
      // The confirmations first: the epoch that is read after them is at least as new.
      confirmed = slot.confirmed.load(std::memory_order_acquire) == request() && confirmed;
      clean = slot.confirmed_clean.load(std::memory_order_acquire) == request() && clean;
      idle += slot.idle_firings.load(std::memory_order_relaxed);
      const std::uint64_t epoch = slot.epoch.load(std::memory_order_acquire);
      if (epoch % 2 == 0) {
        noted_ = false;
        return;
      }
      noted = noted && epochs_[k] == epoch;
      epochs_[k] = epoch;
    }
    if (!noted) {
      noted_ = true;
      idle_before_ = idle;
      ask();
    } else if (clean) {
      finish();
    } else if (confirmed && idle - idle_before_ >= idle_firings_) {
      halt_.stop(Why::livelock);
    }
  }

  /// No thread can do anything as things are.
  void finish() {
    if (somebody_may_skip()) {
      skips_.fetch_add(1, std::memory_order_release);
      ask();
    } else {
      halt_.stop(Why::quiescent);
    }
  }

  void ask() {
    request_.fetch_add(1, std::memory_order_release);
    halt_.wake_all();
  }

  bool somebody_may_skip() const {
    for (const Slot& slot : slots_) {
      if (slot.may_skip.load(std::memory_order_acquire)) {
        return true;
      }
    }
    return false;
  }

  Halt& halt_;
  std::deque<Slot> slots_;
  const std::int64_t idle_firings_;
  alignas(cache_line_bytes) std::atomic<std::uint64_t> request_{0};
  std::atomic<std::uint64_t> skips_{0};
  alignas(cache_line_bytes) std::mutex mutex_;
  std::vector<std::uint64_t> epochs_;  // as noted when all were odd
  bool noted_ = false;
  std::int64_t idle_before_ = 0;  // idle firings then
};

}  // namespace dse
