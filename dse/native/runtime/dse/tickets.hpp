// A bound on the firings of all threads together.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <optional>

#include "dse/fifo.hpp"

namespace dse {

/// The firings that are left. Threads take them in portions, smaller towards the end, so that none waits for another.
class TicketPool {
 public:
  TicketPool(std::optional<std::int64_t> most, std::size_t threads)
      : bounded(most.has_value()),
        most_(most.value_or(0)),
        left_(most_),
        share_(8 * static_cast<std::int64_t>(threads)) {}

  std::int64_t take() {
    std::int64_t left = left_.load();
    while (left > 0) {
      const std::int64_t portion = std::clamp<std::int64_t>(left / share_, 1, largest_portion);
      if (left_.compare_exchange_weak(left, left - portion)) {
        return portion;
      }
    }
    return 0;
  }

  void give_back(std::int64_t count) { left_.fetch_add(count); }

  /// Take away what the initializers have fired, before the threads start.
  void take_initial(std::int64_t count) {
    if (bounded) {
      const std::int64_t taken = std::min(count, left_.load());
      left_.fetch_sub(taken);
      used(taken);
    }
  }

  void used(std::int64_t count) { used_.fetch_add(count); }

  /// Return whether all firings have been made, and not only taken.
  bool all_used() const { return used_.load() == most_; }

  const bool bounded;

 private:
  static constexpr std::int64_t largest_portion = 4096;

  const std::int64_t most_;
  alignas(cache_line_bytes) std::atomic<std::int64_t> left_;
  std::atomic<std::int64_t> used_{0};
  const std::int64_t share_;
};

/// What one thread has taken.
class Tickets {
 public:
  explicit Tickets(TicketPool& pool) : pool_(pool) {}

  /// Return how many firings a visit may make, of `wanted`; 0 if none are to be had.
  std::int64_t grant(std::int64_t wanted) {
    if (!pool_.bounded) {
      return wanted;
    }
    if (held_ == 0) {
      pool_.used(used_);
      used_ = 0;
      held_ = pool_.take();
    }
    return std::min(held_, wanted);
  }

  void use(std::int64_t firings) {
    if (pool_.bounded) {
      held_ -= firings;
      used_ += firings;
    }
  }

  void give_back() {
    if (pool_.bounded && (held_ != 0 || used_ != 0)) {
      pool_.used(used_);
      pool_.give_back(held_);
      held_ = used_ = 0;
    }
  }

 private:
  TicketPool& pool_;
  std::int64_t held_ = 0;
  std::int64_t used_ = 0;
};

}  // namespace dse
