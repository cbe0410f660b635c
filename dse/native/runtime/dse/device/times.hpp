// What a kernel notes of time: sums for each actor in the profiler's program, samples of the clock in every program.
// Plain data that both sides read.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dse::device {

/// Durations in cycles of the clock of a multiprocessor, each with one reading of that clock in it.
struct TimeSum {
  std::int64_t count = 0;
  std::int64_t sum = 0;
  std::int64_t least = 0;
  std::int64_t most = 0;
  double squares = 0;  // sum of the squares
};

/// What is noted of one end of a FIFO, in device memory. An output with several readers has one end, that of the first.
struct EndTimes {
  TimeSum refresh;          // looking how far the other end is, of visits that fired
  TimeSum publish;          // telling it how far this one is
  std::int64_t looked = 0;  // the same as `refresh`, of the visit that goes on
};

/// What is noted of one actor, in device memory: pointers are null in the plain program. Of a group of threads one
/// notes, and an actor belongs to one group, so nothing is added by two at once.
struct ActorTimes {
  std::int32_t actions = 0;
  TimeSum* choosing = nullptr;  // [(previous action + 1) * actions + action]; 0: the first firing of a visit
  TimeSum* phases = nullptr;    // [3 * action + phase]: reading, computing, writing
  TimeSum* leaving = nullptr;   // of visits that fired: from the last firing to the test that failed
  TimeSum* vain = nullptr;      // of visits in which nothing fired: all
  TimeSum* starting = nullptr;  // of the initializers
};

/// The clock of a multiprocessor against the timer that all of the card have in common; in pinned memory. The processor
/// looks at it when the kernel has ended.
struct ClockWords {
  static constexpr std::int32_t most_samples = 64;
  std::int32_t n = 0;
  std::int64_t reading = 0;  // what one reading of the clock takes, in cycles
  std::int64_t cycles[most_samples] = {};
  std::int64_t ns[most_samples] = {};
};

}  // namespace dse::device
