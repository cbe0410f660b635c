// When a run was, and what its threads noted.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "dse/counter.hpp"
#include "dse/records.hpp"
#include "dse/run_types.hpp"

namespace dse {

/// What each thread noted; empty where nothing is noted.
using Records = std::vector<std::unique_ptr<ThreadRecords>>;

inline Records make_records(const RunOptions& options, std::size_t threads, std::size_t actors) {
  Records records;
  for (std::size_t k = 0; timed && options.raw && k != threads; ++k) {
    records.push_back(std::make_unique<ThreadRecords>(actors, threads == 1, Turns(options.raw_every, k)));
  }
  return records;
}

inline void note_times(RunResult& result, const Moment& start, const Moment& end) {
  result.run_ns = end.ns - start.ns;
  result.start_ns = start.ns;
  result.end_ns = end.ns;
  result.counter_start = start.counter;
  result.counter_end = end.counter;
}

}  // namespace dse
