// Runs a network and gathers what it did.
#pragma once

#include <chrono>
#include <cstdint>
#include <numeric>
#include <utility>

#include "dse/diagnose.hpp"
#include "dse/instances.hpp"
#include "dse/interrupts.hpp"
#include "dse/run_types.hpp"
#include "dse/sequential.hpp"

namespace dse {

/// What a run is given beside its network. `sink` may be null: no trace is kept. `progress` may be empty.
struct RunSetting {
  const RunOptions& options;
  Context& context;
  TraceSink* sink = nullptr;
  Progress progress = {};
};

/// Hand the rest of the ids on; to be called when no actor runs any more, after a failure too.
inline void drain_logs(Instances& instances) {
  for (const auto& actor : instances.actors) {
    actor->log.drain();
  }
}

/// Return what went through the connections.
inline std::vector<ChannelResult> channel_results(const Instances& instances) {
  std::vector<ChannelResult> results;
  for (const auto& channel : instances.channels) {
    results.push_back({.tokens = channel->written.load(),
                       .left = channel->left(),
                       .hash = channel->digest,
                       .capacity = channel->capacity});
  }
  return results;
}

/// Gather the counts of all actors.
inline void gather_actors(const Instances& instances, RunResult& result) {
  for (const auto& actor : instances.actors) {
    result.actions.push_back(actor->log.counts());
    result.strays.push_back(actor->strays);
    result.rounds.push_back(actor->rounds);
    result.n_firings += actor->log.made();
  }
}

/// Run a network until it stops.
/// Throws RunError (a fault of the program, no memory), InputRefused, and Interrupted after SIGINT or SIGTERM.
inline RunResult run_network(const NetworkInfo& network, const RunSetting& setting) {
  Instances instances(network, setting.options, setting.context, setting.sink);
  RunResult result;
  {
    const SignalGuard guard;
    Sequential engine(instances, setting.options, setting.progress);
    const auto start = std::chrono::steady_clock::now();
    result.why = engine.run();
    const auto passed = std::chrono::steady_clock::now() - start;
    result.run_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(passed).count();
    result.exit_code = engine.exit_code();
    if (result.why == Why::livelock) {
      result.idle_tail = engine.idle_tail();
    }
  }
  drain_logs(instances);
  gather_actors(instances, result);
  result.channels = channel_results(instances);
  if (result.why == Why::quiescent) {
    result.waits = find_waits(instances);
    result.deadlock = find_deadlock(instances, result.waits);
  }
  return result;
}

}  // namespace dse
