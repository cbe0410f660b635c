// What a thread does that finds nothing to do: spin shortly, then yield, then sleep.
#pragma once

#include <algorithm>
#include <cstdint>
#include <thread>

#include "dse/counter.hpp"
#include "dse/halt.hpp"
#include "dse/parking.hpp"
#include "dse/peers.hpp"

namespace dse {

/// Tell the processor that the thread waits for another one.
inline void pause_briefly() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ __volatile__("isb");
#endif
}

/// How often a thread waited in each way. `pauses`: how often the processor was told so, in all spins.
struct WaitCounts {
  std::int64_t spins = 0;
  std::int64_t pauses = 0;
  std::int64_t yields = 0;
  std::int64_t sleeps = 0;
};

/// The waiting of one thread. Call `wait` after each pass in vain, `reset` after one that was not.
///
/// A pass looks at the positions of FIFOs, and so takes their cache lines from the threads that work. Where none of
/// these has run out of work since the thread last waited, nobody is held up by it: it takes twice the time before it
/// looks again. When one runs out of work, it may wait for this thread, which then looks at once.
class Patience {
 public:
  /// `crowded`: there are more threads than cores, so that spinning takes a core from who has work. Yielding gives it to
  /// them, and what is waited for often comes meanwhile: to be waked from sleep takes longer than many short visits.
  Patience(Parking& parking, const Halt& halt, bool crowded)
      : parking_(parking),
        halt_(halt),
        spinning_ns_(crowded ? 0 : 50'000),
        yielding_ns_(crowded ? 50'000 : 200'000) {}

  /// The threads that this one may hold up, all of them; without any it looks often.
  Peers peers;

  void reset() {
    if (waits_ != 0) {
      waits_ = 0;
      waited_ns_ = 0;
      leave();
    }
  }

  /// Wait a little, longer each time. A wait that comes before sleeping only announces it.
  void wait() {
    if (waits_++ == 0) {
      since_ns_ = nanoseconds_now();
      pauses_ = first_pauses();
      longest_ns_ = shortest_sleep_ns;
    }
    waited_ns_ = nanoseconds_now() - since_ns_;
    if (waited_ns_ < spinning_ns_) {
      spin();
    } else if (waited_ns_ < spinning_ns_ + yielding_ns_) {
      ++counts.yields;
      std::this_thread::yield();
    } else if (!announced_) {
      ticket_ = parking_.announce();
      announced_ = true;
    } else {
      sleep();
    }
  }

  /// Return for how long the thread has had nothing to do, up to the beginning of its last wait.
  std::int64_t waited_ns() const { return waited_ns_; }

  /// Take back that the thread is about to sleep.
  void leave() {
    if (announced_) {
      parking_.leave();
      announced_ = false;
    }
  }

  WaitCounts counts;

 private:
  static constexpr std::int64_t shortest_sleep_ns = 1'000'000;
  static constexpr std::int64_t longest_sleep_ns = 16'000'000;
  static constexpr int most_pauses = 128;
  static constexpr int pauses_between_looks = 4;
  static constexpr std::int64_t waits_between_looks = 32;  // a thread in haste does not look at its peers each time

  /// Return for how long to pause in a wait that begins.
  int first_pauses() {
    if (!peers.none() && (patient() || ++hasty_waits_ % waits_between_looks == 0)) {
      const std::uint64_t now = peers.waits();
      first_pauses_ = now == seen_ ? std::min(2 * first_pauses_, most_pauses) : 1;
      seen_ = now;
    }
    return first_pauses_;
  }

  bool patient() const { return first_pauses_ > 1; }

  void spin() {
    ++counts.spins;
    for (int k = 1; k <= pauses_; ++k) {
      pause_briefly();
      ++counts.pauses;
      if (patient() && k % pauses_between_looks == 0 && peers.waits() != seen_) {
        seen_ = peers.waits();
        pauses_ = first_pauses_ = 1;
        return;
      }
    }
    pauses_ = std::min(pauses_ + 1 + pauses_ / 8, most_pauses);  // to double it would be late by a quarter of a wait
  }

  void sleep() {
    ++counts.sleeps;
    announced_ = false;
    if (halt_.asked()) {
      parking_.leave();
      return;
    }
    parking_.sleep(ticket_, longest_ns_);
    longest_ns_ = std::min(2 * longest_ns_, longest_sleep_ns);
  }

  Parking& parking_;
  const Halt& halt_;
  const std::int64_t spinning_ns_;
  const std::int64_t yielding_ns_;
  std::int64_t waits_ = 0;
  std::int64_t since_ns_ = 0;
  std::int64_t waited_ns_ = 0;
  int pauses_ = 1;
  int first_pauses_ = 1;
  std::int64_t hasty_waits_ = 0;
  std::uint64_t seen_ = 0;  // what `peers` said last
  bool announced_ = false;
  std::uint32_t ticket_ = 0;
  std::int64_t longest_ns_ = shortest_sleep_ns;
};

}  // namespace dse
