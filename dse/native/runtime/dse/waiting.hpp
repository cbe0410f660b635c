// What a thread does that finds nothing to do: spin shortly, then yield, then sleep.
#pragma once

#include <algorithm>
#include <cstdint>
#include <thread>

#include "dse/counter.hpp"
#include "dse/halt.hpp"
#include "dse/parking.hpp"

namespace dse {

/// Tell the processor that the thread waits for another one.
inline void pause_briefly() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ __volatile__("isb");
#endif
}

/// How often a thread waited in each way.
struct WaitCounts {
  std::int64_t spins = 0;
  std::int64_t yields = 0;
  std::int64_t sleeps = 0;
};

/// The waiting of one thread. Call `wait` after each pass in vain, `reset` after one that was not.
class Patience {
 public:
  /// `crowded`: there are more threads than cores, so that spinning takes a core from who has work. Yielding gives it to
  /// them, and what is waited for often comes meanwhile: to be waked from sleep takes longer than many short visits.
  Patience(Parking& parking, const Halt& halt, bool crowded)
      : parking_(parking),
        halt_(halt),
        spinning_ns_(crowded ? 0 : 50'000),
        yielding_ns_(crowded ? 50'000 : 200'000) {}

  void reset() {
    if (waits_ != 0) {
      waits_ = 0;
      leave();
    }
  }

  /// Wait a little, longer each time. A wait that comes before sleeping only announces it.
  void wait() {
    if (waits_++ == 0) {
      since_ns_ = nanoseconds_now();
      pauses_ = 1;
      longest_ns_ = shortest_sleep_ns;
    }
    const std::int64_t passed_ns = nanoseconds_now() - since_ns_;
    if (passed_ns < spinning_ns_) {
      spin();
    } else if (passed_ns < spinning_ns_ + yielding_ns_) {
      ++counts.yields;
      std::this_thread::yield();
    } else if (!announced_) {
      ticket_ = parking_.announce();
      announced_ = true;
    } else {
      sleep();
    }
  }

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
  static constexpr int most_pauses = 64;

  void spin() {
    ++counts.spins;
    for (int k = 0; k != pauses_; ++k) {
      pause_briefly();
    }
    pauses_ = std::min(2 * pauses_, most_pauses);
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
  int pauses_ = 1;
  bool announced_ = false;
  std::uint32_t ticket_ = 0;
  std::int64_t longest_ns_ = shortest_sleep_ns;
};

}  // namespace dse
