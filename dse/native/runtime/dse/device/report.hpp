// What a run tells of the GPU that it used.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dse/device/times.hpp"

namespace dse {

/// Where the clock of the multiprocessor and the timer of the card were, of one group; `reading`: of that clock, in cycles.
struct GpuClock {
  std::int64_t reading = 0;
  std::vector<std::int64_t> cycles;
  std::vector<std::int64_t> ns;
};

/// What the profiler's program noted of an end of a connection on the GPU.
struct GpuEndTimes {
  int connection = 0;
  bool writes = false;
  device::EndTimes times;
};

/// What the profiler's program noted of an actor on the GPU; vectors as the arrays of `device::ActorTimes`.
struct GpuActorTimes {
  int actor = 0;
  std::vector<device::TimeSum> choosing;
  std::vector<device::TimeSum> phases;
  device::TimeSum leaving;
  device::TimeSum vain;
  device::TimeSum starting;
};

struct GpuReport {
  std::string name;
  int major = 0;  // compute capability
  int minor = 0;
  bool emulated = false;
  std::vector<GpuClock> clocks;      // by group of the kernel
  std::vector<GpuActorTimes> actors;  // of the profiler's program, as `ends`
  std::vector<GpuEndTimes> ends;
  int blocks = 1;    // of a group whose actor can fire several times at once
  int threads = 0;   // of such a block, besides the one that leads it; 0: there was none
  std::string said;  // a warning, or nothing
  std::vector<std::int64_t> batched;  // by actor: firings by several threads at once
  std::vector<std::int64_t> shared = {};  // by actor: rounds of loops by several threads
  bool time_limit = false;  // the system ends kernels that run long
};

}  // namespace dse
