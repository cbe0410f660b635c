// What an end of a connection knows of the threads that sleep at the other end; they do so in parking.hpp.
#pragma once

#include <atomic>
#include <cstdint>

namespace dse {

/// Threads that may sleep. Every actor includes this, so it leaves out what sleeping needs.
class Sleepers {
 public:
  bool has_sleepers() const { return sleepers_.load(std::memory_order_relaxed) != 0; }
  virtual void wake() = 0;

 protected:
  ~Sleepers() = default;
  std::atomic<std::uint32_t> sleepers_{0};
};

}  // namespace dse
