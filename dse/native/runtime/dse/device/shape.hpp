// How many blocks a group has, and how many lanes a block: what the user asks for, and what the card has room for.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "dse/device/gpu.hpp"
#include "dse/errors.hpp"
#include "dse/run_types.hpp"

namespace dse::device {

/// Lanes of a block where nobody asks for a number: a warp.
inline constexpr int usual_lanes = 32;

/// The form of a kernel. `lanes` 0: no group has any, and each block is one thread. `said`: what the user is told.
struct Shape {
  int blocks = 1;  // of a group with lanes; others have one
  int lanes = 0;   // of a block; its leader is one thread more
  std::string said = "";

  int threads() const { return lanes + 1; }
  bool has_crews() const { return lanes != 0; }
};

namespace detail {

/// Return how many blocks there are in all.
inline std::int64_t blocks_in_all(const std::vector<bool>& has_lanes, int blocks) {
  std::int64_t sum = 0;
  for (const bool several : has_lanes) {
    sum += several ? blocks : 1;
  }
  return sum;
}

inline int lanes_of(const RunOptions& options, const Gpu& gpu) {
  const int most = gpu.facts().most_threads - 1;
  if (!options.gpu_threads) {
    return std::min(usual_lanes, std::max(most / 2, 1));
  }
  if (*options.gpu_threads > most) {
    throw ConfigError({"a block of this kernel has room for " + std::to_string(most) + " threads besides its leader on '" +
                           gpu.facts().name + "', not for " + std::to_string(*options.gpu_threads),
                       {}, "--gpu-threads " + std::to_string(most) + ", or fewer"});
  }
  return *options.gpu_threads;
}

[[noreturn]] inline void refuse_groups(std::int64_t groups, int room, const Shape& shape, const Gpu& gpu) {
  const std::string threads = shape.lanes == 0 ? "" : " with " + std::to_string(shape.threads()) + " threads each";
  const std::string fewer = shape.lanes > 1 ? ", or give its groups fewer threads (--gpu-threads)" : "";
  throw ConfigError({"the mapping needs " + std::to_string(groups) + " groups of threads at once" + threads + ", and '" +
                         gpu.facts().name + "' has room for " + std::to_string(room) + " of this kernel",
                     {},
                     "place fewer actors on the GPU, or give its partition the policy NON_PREEMPTIVE" + fewer});
}

}  // namespace detail

/// Return the form of a kernel whose groups are all at work at once; `has_lanes`: by group, whether one can use them.
/// A group gets fewer blocks than asked for where the card has no room for more. Throws ConfigError where one is too many.
inline Shape shape_of(const RunOptions& options, const std::vector<bool>& has_lanes, Gpu& gpu) {
  Shape shape;
  const bool any = std::find(has_lanes.begin(), has_lanes.end(), true) != has_lanes.end();
  const int asked = options.gpu_blocks;
  if (any && (asked != 1 || options.gpu_threads != 1)) {
    shape.lanes = detail::lanes_of(options, gpu);
  }
  const int room = gpu.room(shape.threads());
  shape.blocks = shape.has_crews() ? asked : 1;
  while (shape.blocks > 1 && detail::blocks_in_all(has_lanes, shape.blocks) > room) {
    --shape.blocks;
  }
  const std::int64_t needed = detail::blocks_in_all(has_lanes, shape.blocks);
  if (needed > room) {
    detail::refuse_groups(needed, room, shape, gpu);
  }
  if (shape.has_crews() && shape.blocks < asked) {
    const auto groups = std::count(has_lanes.begin(), has_lanes.end(), true);
    shape.said = "the GPU has room for " + std::to_string(shape.blocks) + " blocks a group, not for " +
                 std::to_string(asked) + ": " + std::to_string(groups) + " groups have several, and '" + gpu.facts().name +
                 "' has " + std::to_string(room) + " blocks of this kernel at work at once";
  }
  return shape;
}

}  // namespace dse::device
