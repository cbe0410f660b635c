// What both sides of the micro-benchmark of the link know of one end of a FIFO on the GPU. Plain data.
//
// The plan of a kernel (dse/device/plan.hpp) carries it: each block is an actor whose object is a `LinkTask`, in device
// memory; a group's `epoch` says that its block is there, `request` of the control that all begin.
#pragma once

#include <cstdint>

#include "dse/device/times.hpp"

namespace link_probe {

enum class Role : std::int32_t { reads, writes, echoes };

struct LinkTask {
  Role role = Role::reads;
  std::int32_t token_bytes = 1;
  std::int64_t block = 1;    // tokens that are moved at once
  std::int64_t blocks = 0;
  void* tokens = nullptr;    // room for a block, in device memory
  dse::device::TimeSum took;  // of moving a block, when there was one or room for it, in cycles
  std::uint64_t sum = 0;     // of all tokens that were read
};

/// Token `position` of a stream: small enough for every type of token.
constexpr std::uint64_t token_at(std::int64_t position) { return static_cast<std::uint64_t>(position) & 0x7F; }

}  // namespace link_probe
