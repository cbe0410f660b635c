// The threads at the other ends of a thread's FIFOs, as it sees them while it waits.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

namespace dse {

/// Tells how often the peers of a thread have run out of work.
class Peers {
 public:
  /// `waits`: of one of them; only that thread writes it.
  void add(const std::atomic<std::uint64_t>& waits) { waits_.push_back(&waits); }

  bool none() const { return waits_.empty(); }

  std::uint64_t waits() const {
    std::uint64_t sum = 0;
    for (const auto* one : waits_) {
      sum += one->load(std::memory_order_relaxed);
    }
    return sum;
  }

 private:
  std::vector<const std::atomic<std::uint64_t>*> waits_;
};

}  // namespace dse
