// What a thread does that finds nothing to do: spin shortly, then yield, then sleep.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>

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
  using Clock = std::chrono::steady_clock;

  /// `crowded`: there are more threads than cores, so that spinning takes a core from who has work. Yielding gives it to
  /// them, and what is waited for often comes meanwhile: to be waked from sleep takes longer than many short visits.
  Patience(Parking& parking, const Halt& halt, bool crowded)
      : parking_(parking),
        halt_(halt),
        spinning_(crowded ? std::chrono::microseconds(0) : std::chrono::microseconds(50)),
        yielding_(crowded ? std::chrono::microseconds(50) : std::chrono::microseconds(200)) {}

  void reset() {
    if (waits_ != 0) {
      waits_ = 0;
      leave();
    }
  }

  /// Wait a little, longer each time. A wait that comes before sleeping only announces it.
  void wait() {
    if (waits_++ == 0) {
      since_ = Clock::now();
      pauses_ = 1;
      longest_ = shortest_sleep;
    }
    const auto passed = Clock::now() - since_;
    if (passed < spinning_) {
      spin();
    } else if (passed < spinning_ + yielding_) {
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
  static constexpr std::chrono::microseconds shortest_sleep{1000};
  static constexpr std::chrono::microseconds longest_sleep{16000};
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
    parking_.sleep(ticket_, longest_);
    longest_ = std::min(2 * longest_, longest_sleep);
  }

  Parking& parking_;
  const Halt& halt_;
  const std::chrono::microseconds spinning_;
  const std::chrono::microseconds yielding_;
  std::int64_t waits_ = 0;
  Clock::time_point since_;
  int pauses_ = 1;
  bool announced_ = false;
  std::uint32_t ticket_ = 0;
  std::chrono::microseconds longest_ = shortest_sleep;
};

}  // namespace dse
