// The static description of a network, which network.cpp holds.
#pragma once

#include <cstdint>
#include <span>

#include "dse/thrown.hpp"

namespace dse {

class Actor;
class Channel;
class FifoMemory;
struct Wires;

namespace device {
struct Program;
}

struct ActionInfo {
  const char* name;
  bool moves;  // reads a token, or writes one to somebody
  bool initializer;
};

/// An action or routine and the text that it covers, to name what was at work when something failed. Actions first.
struct OwnerInfo {
  const char* name;
  Site place;
};

struct ActorInfo {
  const char* name;
  const char* class_name;
  Actor* (*make)(const Wires& wires);  // the caller owns it
  std::span<const ActionInfo> actions;
  std::span<const char* const> inputs;
  std::span<const char* const> outputs;
  std::span<const Site> sites;
  std::span<const OwnerInfo> owners;
  Site place;
  int counted_loops;   // pairs of counters in `Actor::rounds`
  bool guards_call;    // a guard calls a native, so that it may change without a token having moved
  int unit = -1;       // its class in the device code of the program; -1: it has none
  const char* host_only = "";  // why not, in a program that has device code
};

struct ConnectionInfo {
  const char* name;
  int source;
  int source_port;
  int target;
  int target_port;
  Channel* (*make)(std::int64_t capacity, FifoMemory* memory, bool apart);  // &make_fifo<TYPE>; the caller owns it
  std::int64_t declared_tokens;             // capacity in the network's file, or 0
  std::int64_t least_tokens;                // most tokens that a firing of either end moves
};

struct NetworkInfo {
  const char* name;
  std::span<const ActorInfo> actors;
  std::span<const ConnectionInfo> connections;
  bool compares_itself = false;  // an actor compares the pictures by a native of its own
  const char* time_matters = nullptr;  // why a run on several threads may not be that on one; null: it is
  const device::Program* device = nullptr;  // null: the program has no device code
  const char* mapping_name = nullptr;  // of a program for one mapping alone
  const char* mapping = nullptr;  // the text of that, an XCF
};

}  // namespace dse
