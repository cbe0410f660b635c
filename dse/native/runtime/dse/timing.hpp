// Whether this is the profiler's program, and what its actors have for that: the plain one has an empty class in place of
// what times firings (records.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#ifndef DSE_TIMED
#define DSE_TIMED 0
#endif

namespace dse {

struct ThreadRecords;

/// Whether this is the profiler's program.
inline constexpr bool timed = DSE_TIMED != 0;

/// Which actions of an actor are timed singly: a byte for each, or nothing where none is.
using Singled = std::vector<std::uint8_t>;

/// Stands for `FiringTimer` in the plain program.
class NoTimer {
 public:
  NoTimer(ThreadRecords*, const Singled&, std::int64_t) {}
  static constexpr bool times(int) { return false; }
  void reached(int) {}
  void fired(std::size_t, int, std::int64_t) {}
};

}  // namespace dse
