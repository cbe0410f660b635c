// Two cores: the time that a cache line takes from one to the other and back, and how quick each of them is.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <thread>

#include "dse/counter.hpp"
#include "dse/fifo.hpp"
#include "dse/machine.hpp"
#include "dse/pace.hpp"
#include "dse/waiting.hpp"

namespace dse {

/// What two cores were like at a moment. `round_trip_ns` is 0 where a thread could not be kept on them.
struct CoreMoment {
  double round_trip_ns = 0;             // the best of several blocks, within about 2 ms
  std::array<double, 2> work_ns{0, 0};  // a round of work on each of them, both at work (`work_round_ns`)
};

/// Two cores throw a number to and fro, each on a line of its own; then each works for itself.
class PingPongGame {
 public:
  /// Return what two cores are like now.
  static CoreMoment play(int first_core, int second_core) {
    PingPongGame game;
    CoreMoment found;
    std::thread answering([&game, &found, second_core] { found.work_ns[1] = game.answer(second_core); });
    std::thread asking([&game, &found, first_core] {
      found.round_trip_ns = game.ask(first_core);
      found.work_ns[0] = work_round_ns();
    });
    asking.join();
    answering.join();
    return found;
  }

 private:
  static constexpr std::uint64_t last = std::numeric_limits<std::uint64_t>::max();
  static constexpr std::uint64_t block_trips = 200;
  static constexpr std::int64_t budget_ns = 2'000'000;
  static constexpr std::int64_t patience_ns = 200'000'000;  // for the other thread to start, on a busy machine

  double ask(int core) {
    const bool pinned = pin_to(core);
    double best = pinned && start() ? std::numeric_limits<double>::infinity() : 0;
    std::uint64_t number = 1;
    const std::int64_t until_ns = nanoseconds_now() + budget_ns;
    while (best != 0 && nanoseconds_now() < until_ns) {
      const std::int64_t start_of_block_ns = nanoseconds_now();
      for (std::uint64_t k = 0; k != block_trips; ++k) {
        trip(++number);
      }
      const auto passed_ns = static_cast<double>(nanoseconds_now() - start_of_block_ns);
      best = std::min(best, passed_ns / static_cast<double>(block_trips));
    }
    ping_.store(last, std::memory_order_release);
    return best;
  }

  /// Wait for the other thread; return whether it is on its core.
  bool start() {
    const std::int64_t until_ns = nanoseconds_now() + patience_ns;
    while (ready_.load(std::memory_order_acquire) == 0 && nanoseconds_now() < until_ns) {
      std::this_thread::yield();
    }
    return ready_.load(std::memory_order_acquire) == 1;
  }

  void trip(std::uint64_t number) {
    ping_.store(number, std::memory_order_release);
    for (int spins = 0; pong_.load(std::memory_order_acquire) != number; ++spins) {
      relent(spins);
    }
  }

  /// Return what a round of work takes, behind the last throw.
  double answer(int core) {
    ready_.store(pin_to(core) ? 1 : 2, std::memory_order_release);
    std::uint64_t seen = 0;
    for (int spins = 0; seen != last; ++spins) {
      const std::uint64_t number = ping_.load(std::memory_order_acquire);
      if (number != seen) {
        pong_.store(number, std::memory_order_release);
        seen = number;
        spins = 0;
      }
      relent(spins);
    }
    return work_round_ns();
  }

  /// Two threads on one core would else wait for each other for a time slice each.
  static void relent(int spins) {
    if (spins > 100000) {
      std::this_thread::yield();
    }
  }

  alignas(cache_line_bytes) std::atomic<std::uint64_t> ping_{0};
  alignas(cache_line_bytes) std::atomic<std::uint64_t> pong_{0};
  alignas(cache_line_bytes) std::atomic<int> ready_{0};
};

}  // namespace dse
