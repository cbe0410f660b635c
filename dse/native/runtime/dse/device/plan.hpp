// What a kernel is told, and what it tells: plain data that both sides of a program read.
//
// A kernel is launched once and stays until the run is over. Each of its groups (one block) runs the actors of one
// `Group` without an end, as a thread of the processor runs its partition. What a group tells of itself is the slot of
// termination.hpp, in memory that the processor sees too; the processor copies it into a slot of its own.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dse/device/times.hpp"

namespace dse::device {

/// A FIFO as a kernel sees it. Positions count tokens for ever, as in fifo.hpp, with the same meaning. The ring itself
/// lies in device memory; tokens and positions too (FIFO kind `cuda`), or in pinned memory of the processor (`host`).
struct Ring {
  void* tokens = nullptr;
  std::uint64_t mask = 0;
  std::int64_t capacity = 0;
  std::int64_t* written = nullptr;
  std::int64_t* read = nullptr;
  bool across = false;   // an end may be on the processor: system scope
  bool hashing = false;  // a writer that is on the GPU carries the hash on
  std::int64_t reader_refill = 0;  // an end that knows of so many tokens, or of room for so many, does not ask again
  std::int64_t writer_refill = 0;
  std::uint64_t digest = 0;
  std::int64_t hashed = 0;
  EndTimes* reader_times = nullptr;  // of the profiler's program
  EndTimes* writer_times = nullptr;
};

/// What one candidate action of an actor waits for: `Wait` of wait.hpp as plain data.
struct WaitRow {
  std::int32_t action;
  std::int32_t kind;
  std::int32_t port;
  std::int64_t have;
  std::int64_t need;
};

/// An actor as a kernel sees it; device memory, but for the ids.
struct ActorPlan {
  std::int32_t unit = 0;  // its class: the number in the table of the program
  void* object = nullptr;
  Ring** inputs = nullptr;    // by port; null where nothing is connected
  Ring*** outputs = nullptr;  // by port, then by reader
  std::int64_t shown_every = 1;
  bool needs_steady = false;

  std::int64_t* counts = nullptr;  // firings of each action
  std::int64_t batched = 0;        // of them, by several lanes at once
  std::int64_t shared = 0;         // rounds of loops that lanes did
  std::int64_t* strays = nullptr;  // by site
  std::int64_t* rounds = nullptr;  // entries and rounds of each counted loop
  WaitRow* waits = nullptr;        // at the end, one for each action at most
  std::int32_t n_waits = 0;

  // The ids of its firings, where a trace is kept: a ring in pinned memory that the processor empties.
  bool narrow = true;  // ids of one byte, else of two
  void* ids = nullptr;
  std::uint64_t ids_mask = 0;
  std::int64_t* ids_written = nullptr;
  std::int64_t* ids_read = nullptr;

  ActorTimes times;  // of the profiler's program
};

/// Work that the leader of a group asks its lanes for.
enum class Task : std::int32_t { end, ask, fire, rounds };

/// The lanes of a group: threads that fire one action several times at once, in one block or more, or that do the rounds
/// of a loop of one firing, those of the leader's block. Device memory.
///
/// The leader writes what it asks for, and then moves `asked`; each other block moves `done` when its lanes are done.
struct Crew {
  std::int32_t first_block = 0;
  std::int32_t blocks = 1;
  std::int32_t lanes = 0;  // of each block
  Task task = Task::end;
  std::int32_t actor = -1;  // into the actors of the plan
  std::int32_t action = -1;  // or the number of a loop
  std::int64_t count = 0;   // firings, or rounds
  std::int64_t ends = 0;    // of the question: the first firing that would not choose the action
  std::uint64_t asked = 0;
  std::uint64_t done = 0;
  std::int32_t failed = 0;  // lanes with a fault
};

/// What went wrong in a lane, and in which firing of a batch, or round of a loop.
struct LaneFault {
  std::int64_t firing = 0;
  std::int32_t site = -1;
  const char* message = nullptr;  // null: nothing
  const char* expected = nullptr;
};

/// Which group a block belongs to, and its number there.
struct Block {
  std::int32_t group = 0;
  std::int32_t rank = 0;
};

/// How a group goes through its actors: each as long as it can, or firing by firing.
enum class Turn : std::int32_t { stay, one };

/// What one group tells of itself, in pinned memory: as `Slot` of termination.hpp.
struct alignas(128) GroupWords {
  std::uint64_t epoch = 0;
  std::uint64_t confirmed = 0;
  std::int64_t idle_firings = 0;
  std::int64_t firings = 0;
};

/// Actors that one group of threads runs.
struct Group {
  std::int32_t first = 0;  // into the actors of the plan
  std::int32_t count = 0;
  Turn turn = Turn::stay;
  GroupWords* words = nullptr;
  Crew* crew = nullptr;  // null: it has no lanes
  ClockWords* clock = nullptr;
};

/// What went wrong in a kernel; the first fault counts.
struct FaultWords {
  static constexpr int most_characters = 120;
  std::int32_t actor = -1;  // into the actors of the plan
  std::int32_t site = -1;
  char message[most_characters] = {};
  char expected[most_characters] = {};
};

/// What the processor tells all groups, and what ends a run: pinned memory.
struct alignas(128) Control {
  std::uint64_t stop = 0;     // the run is over
  std::uint64_t request = 0;  // of termination.hpp, a little later than there
  alignas(128) std::uint64_t failed = 0;  // a fault is told
  FaultWords fault;
};

struct Plan {
  ActorPlan* actors = nullptr;
  Group* groups = nullptr;
  std::int32_t n_groups = 0;
  Control* control = nullptr;
  std::int32_t* fault_taken = nullptr;  // device memory: who changes it from 0 tells its fault
  Block* blocks = nullptr;
  std::int32_t lanes = 0;              // threads of a block besides the one that leads it, which is the last
  LaneFault* lane_faults = nullptr;    // by block, then by lane
};

}  // namespace dse::device
