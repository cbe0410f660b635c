// A GPU as the engine sees it. The engine knows no CUDA: cuda_gpu.hpp, which the file of device code includes, does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "dse/device/plan.hpp"
#include "dse/fifo_memory.hpp"

namespace dse::device {

/// What a card is, for messages and for what a run tells.
struct GpuFacts {
  std::string name;
  int major = 0;  // compute capability
  int minor = 0;
  int most_threads = 1;     // of a block of the kernel
  bool time_limit = false;  // the system ends kernels that run long
  bool emulated = false;
};

/// One card, on which one kernel runs. All calls come from one thread. Throws ConfigError for what the user can change
/// before a run, RunError for what fails in it.
class Gpu : public FifoMemory {
 public:
  /// Memory of the card, zeros; lives as long as this object.
  virtual void* device_memory(std::size_t bytes) = 0;
  virtual void copy_to(void* device, const void* host, std::size_t bytes) = 0;
  virtual void copy_from(void* host, const void* device, std::size_t bytes) = 0;
  /// Return how many blocks of the kernel, of so many threads each, are at work at once.
  virtual int room(int threads) = 0;
  virtual void launch(Plan* plan, int blocks, int threads) = 0;
  /// Return whether the kernel has ended.
  virtual bool has_ended() = 0;
  virtual const GpuFacts& facts() const = 0;
};

/// The class of an actor as device code has it.
struct Unit {
  std::size_t bytes;
  bool has_lanes;  // an action of it may be fired several times at once
};

/// The device code of a program.
struct Program {
  std::span<const Unit> units;
  Gpu* (*open)();  // the caller owns it; throws ConfigError where there is no card that can run it
};

}  // namespace dse::device
