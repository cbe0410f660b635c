// Runs a network and gathers what it did. The bodies are in engine_bodies.hpp.
#pragma once

#include <cstdint>
#include <functional>

#include "dse/at_work.hpp"
#include "dse/log.hpp"
#include "dse/run_types.hpp"
#include "dse/tables.hpp"

namespace dse {

class Context;

/// Called with the firings so far, now and then, from one thread.
using Progress = std::function<void(std::int64_t)>;

/// Called on each thread with what the thread is to do; it must call that once.
using AroundThread = std::function<void(const std::function<void()>& body)>;

/// What a run is given beside its network. `sink` may be null: no trace is kept. The functions may be empty.
struct RunSetting {
  const RunOptions& options;
  Context& context;
  TraceSink* sink = nullptr;
  Progress progress = {};
  AroundThread around_thread = {};
};

/// Run a network until it stops.
/// Throws RunError (a fault of the program, no memory), InputRefused, Interrupted after SIGINT or SIGTERM, and what the
/// natives, the sink and the progress throw.
RunResult run_network(const NetworkInfo& network, const RunSetting& setting);

/// Whether this is the profiler's program.
bool measures_times();

/// Return the nanoseconds of a round trip of a cache line between two cores; 0 where no thread can be kept on them.
double round_trip_ns(int first_core, int second_core);

/// Whether an actor of a mapping is on a GPU.
inline bool uses_gpu(const Mapping& mapping) {
  for (const Partition& partition : mapping.partitions) {
    if (partition.on_gpu) {
      return true;
    }
  }
  return false;
}

/// Whether a mapping needs threads. One partition with one thread runs in the schedule of the Python execution.
inline bool needs_threads(const Mapping& mapping) {
  if (uses_gpu(mapping)) {
    return true;
  }
  if (mapping.partitions.size() != 1) {
    return !mapping.partitions.empty();
  }
  const Partition& only = mapping.partitions.front();
  const bool alone = only.cores == 1 && only.policy != Policy::full_parallel;
  return !alone || only.policy == Policy::static_order;
}

}  // namespace dse
