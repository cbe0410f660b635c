// Where FIFOs lie whose tokens somebody else than the processor moves.
#pragma once

#include <cstddef>

namespace dse {

/// Gives memory that both ends see, zeros, aligned to a cache line; it lives as long as this object. Throws.
class FifoMemory {
 public:
  virtual ~FifoMemory() = default;
  virtual void* shared_memory(std::size_t bytes) = 0;
};

}  // namespace dse
