// The bodies of engine.hpp. Exactly one file of a program includes this; it is the same for every network.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>

#include "dse/counter.hpp"
#include "dse/device/gpu.hpp"
#include "dse/diagnose.hpp"
#include "dse/engine.hpp"
#include "dse/instances.hpp"
#include "dse/interrupts.hpp"
#include "dse/lines_apart.hpp"
#include "dse/machine.hpp"
#include "dse/observing.hpp"
#include "dse/parallel.hpp"
#include "dse/ping_pong.hpp"
#include "dse/run_types.hpp"
#include "dse/sequential.hpp"
#include "dse/thread_watch.hpp"
#include "dse/timing.hpp"

#if DSE_TIMED
#include "dse/raw_file.hpp"
#endif

namespace dse {

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

/// Write what the threads noted, where it is asked for. The plain program notes nothing.
inline void write_records([[maybe_unused]] const RunOptions& options, [[maybe_unused]] const RunResult& result,
                          [[maybe_unused]] std::size_t actors, [[maybe_unused]] const Records& records) {
#if DSE_TIMED
  if (!records.empty()) {
    RawFile(*options.raw).write(result, actors, records, options.raw_every);
  }
#endif
}

/// Run on the calling thread.
inline void run_sequential(Instances& instances, const RunSetting& setting, RunResult& result) {
  const Records records = make_records(setting.options, 1, instances.actors.size());
  Sequential engine(instances, setting.options, setting.progress, records.empty() ? nullptr : records.front().get());
  const std::vector<int> cores = allowed_cores();
  result.pinned = setting.options.pin && !cores.empty() && pin_to(cores.front());
  ThreadWatch watch(0, result.pinned ? cores.front() : -1);
  const Moment start = Moment::now();
  result.why = engine.run();
  note_times(result, start, Moment::now());
  result.threads = {watch.report()};
  result.exit_code = engine.exit_code();
  if (result.why == Why::livelock) {
    result.idle_tail = engine.idle_tail();
  }
  write_records(setting.options, result, instances.actors.size(), records);
}

/// Run on the threads of the mapping.
inline void run_parallel(Instances& instances, const RunSetting& setting, device::Gpu* gpu, RunResult& result) {
  Parallel engine(instances, setting.options, setting.progress, setting.around_thread,
                  uses_gpu(setting.options.mapping) ? gpu : nullptr);
  result.why = engine.run();
  engine.tell(result);
  result.exit_code = engine.exit_code();
  write_records(setting.options, result, instances.actors.size(), engine.records());
  if (result.why == Why::quiescent) {
    result.wrong_order = engine.wrong_order();
  }
}

/// Run, and measure the distance of cores around the run.
inline void run_watched(Instances& instances, const RunSetting& setting, device::Gpu* gpu, RunResult& result) {
  const std::vector<int>& cores = setting.options.ping_pong_cores;
  for (std::size_t k = 0; k + 1 < cores.size(); k += 2) {
    const CoreMoment before = PingPongGame::play(cores[k], cores[k + 1]);
    PingPong pair{.first_core = cores[k], .second_core = cores[k + 1], .before_ns = before.round_trip_ns};
    std::ranges::copy(before.work_ns, pair.work_ns.begin());
    result.ping_pong.push_back(pair);
  }
  if (needs_threads(setting.options.mapping)) {
    run_parallel(instances, setting, gpu, result);
  } else {
    run_sequential(instances, setting, result);
  }
  for (PingPong& pair : result.ping_pong) {
    const CoreMoment after = PingPongGame::play(pair.first_core, pair.second_core);
    pair.after_ns = after.round_trip_ns;
    std::ranges::copy(after.work_ns, pair.work_ns.begin() + 2);
  }
}

/// Tell the actors which of their firings are timed singly.
inline void mark_singled(Instances& instances, const RunOptions& options) {
  for (const auto& [actor, action] : options.singly) {
    const auto index = static_cast<std::size_t>(actor);
    Singled& singled = instances.actors[index]->singled;
    singled.resize(instances.info(index).actions.size(), 0);
    singled[static_cast<std::size_t>(action)] = 1;
  }
}

bool measures_times() { return timed; }

double round_trip_ns(int first_core, int second_core) {
  return PingPongGame::play(first_core, second_core).round_trip_ns;
}

RunResult run_network(const NetworkInfo& network, const RunSetting& setting) {
  // The card goes last: FIFOs lie in its memory.
  const bool needs_gpu = uses_gpu(setting.options.mapping) || setting.options.pinned_fifos;
  const std::unique_ptr<device::Gpu> gpu(needs_gpu ? network.device->open() : nullptr);
  Instances instances(network, setting.options, setting.context, setting.sink, gpu.get());
  mark_singled(instances, setting.options);
  RunResult result;
  try {
    const SignalGuard guard;
    run_watched(instances, setting, gpu.get(), result);
  } catch (const NoMemory& fault) {
    throw out_of_memory(instances.info(fault.actor), *instances.actors[fault.actor], instances.firings());
  } catch (const Interrupted& interrupt) {
    throw Interrupted(interrupt.what() + (", after " + grouped(instances.firings()) + " firings"), interrupt.signal);
  }
  if (gpu && !result.gpu) {  // only FIFOs lie in its memory
    const device::GpuFacts& facts = gpu->facts();
    result.gpu = GpuReport{facts.name, facts.major, facts.minor, facts.emulated, {}, {}, {}, 1, 0, {}, {}};
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
