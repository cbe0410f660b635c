// Plain types of a run: options, the mapping to threads, and what a run gives back.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "dse/device/report.hpp"
#include "dse/thrown.hpp"
#include "dse/wait.hpp"

namespace dse {

/// A run that failed. `place.line` is 0 where no place of the program is to blame.
struct RunError : std::runtime_error {
  RunError(const std::string& message, const Site& place, std::string expected)
      : std::runtime_error(message), place(place), expected(std::move(expected)) {}
  Site place;
  std::string expected;
};

/// A signal ended the run; the text says where the run was.
struct Interrupted : std::runtime_error {
  Interrupted(const std::string& where, int signal) : std::runtime_error(where), signal(signal) {}
  int signal;
};

// Mapping --------------------------------------------------------------------------------------------------------------

enum class Policy { non_preemptive, round_robin, data_demand_driven, full_parallel, static_order };

/// Actors that share threads. Numbers of actors are indices into the network's table.
struct Partition {
  std::string name;
  Policy policy = Policy::round_robin;
  std::int64_t cores = 1;    // threads; of full_parallel each actor has its own, whatever stands here
  std::vector<int> actors;   // in the order of the search
  std::vector<int> order;    // of static_order: the cyclic list, actors may repeat
  bool on_gpu = false;       // not by threads: by groups of a kernel, one for each actor where it is full_parallel
};

/// How a network runs on several threads. Without partitions it runs as one, in the schedule of the Python execution.
struct Mapping {
  std::vector<Partition> partitions;
  std::vector<std::int64_t> capacities;  // tokens of each connection, 0 where nothing is said; or empty
};

// Options --------------------------------------------------------------------------------------------------------------

/// Options of a run; the names and defaults of dse/run/options.py.
struct RunOptions {
  std::optional<std::string> input;
  std::optional<std::string> output;
  std::optional<std::string> write;
  std::optional<std::string> reference;
  int tolerance = 0;
  std::int64_t loops = 1;
  std::optional<std::int64_t> frames;
  std::int64_t fifo_tokens = 512;
  std::optional<std::int64_t> max_firings;
  std::int64_t idle_firings = 100000;  // in a row without one token moving, after which a run ends
  bool hash_channels = false;
  std::optional<std::string> files;
  std::vector<std::string> allow_files;
  std::optional<std::string> unnamed_output;
  std::optional<std::int64_t> max_memory_bytes;
  std::vector<std::string> console_input;

  Mapping mapping;
  bool special_fifos = false;          // FIFOs between actors on the GPU lie there, else as if they might cross
  int gpu_blocks = 1;                  // of a group whose actor can fire several times at once
  std::optional<int> gpu_threads;      // of such a block, besides the one that leads it
  bool pinned_fifos = false;           // those between actors on processors lie in pinned memory too
  bool pin = false;                    // each thread to a core of its own, as far as there are cores
  std::vector<int> ping_pong_cores;    // pairs of cores: their round trips are measured before and after the run
  std::optional<std::string> raw;      // of the profiler's program: the file for its records
  std::uint64_t raw_every = 1;         // of the profiler's program: one visit of so many is noted, in the mean
  std::vector<std::pair<int, int>> singly;  // of the profiler's program: (actor, action) whose firings are timed singly
};

// Results --------------------------------------------------------------------------------------------------------------

/// Why a run ended: nothing can fire; idle firings only; firing budget spent; ended by a native; frames shown.
enum class Why { quiescent, livelock, budget, exit, frames };

constexpr const char* why_text(Why why) {
  constexpr std::array<const char*, 5> names = {"quiescent", "livelock", "budget", "exit", "frames"};
  return names[static_cast<std::size_t>(why)];
}

/// Actors that wait for each other, at least one of them for room in `connection`.
struct Deadlock {
  std::vector<int> actors;
  int connection = -1;
  std::int64_t capacity_tokens = 0;
  std::int64_t needed_tokens = 0;
};

/// What went through one connection.
struct ChannelResult {
  std::int64_t tokens = 0;
  std::int64_t left = 0;
  std::uint64_t hash = 0;  // of all tokens, where asked for
  std::int64_t capacity = 0;
};

/// What one thread of a run was and did. A figure that the system does not give is nothing.
struct ThreadReport {
  int partition = 0;
  int core = -1;  // to which it was pinned, or -1
  int core_at_start = -1;
  int core_at_end = -1;
  std::int64_t voluntary_switches = 0;
  std::int64_t involuntary_switches = 0;
  std::int64_t minor_faults = 0;
  std::int64_t major_faults = 0;
  std::int64_t spins = 0;  // of the idle loop
  std::int64_t yields = 0;
  std::int64_t sleeps = 0;
  std::optional<std::int64_t> cpu_ns = {};  // time that it had a core
  std::optional<std::uint64_t> cycles = {};
  std::optional<std::uint64_t> instructions = {};
  std::optional<std::uint64_t> cache_misses = {};
};

/// Round trip of a cache line between two cores, right before the run and right after it.
struct PingPong {
  int first_core = 0;
  int second_core = 0;
  double before_ns = 0;
  double after_ns = 0;
  std::array<double, 4> work_ns{};  // a round of work on the first and the second core before the run, and after it
};

/// What the run of a network did. Outer vectors have one entry for each actor, or each connection.
struct RunResult {
  Why why = Why::quiescent;
  int exit_code = 0;
  std::int64_t n_firings = 0;
  std::vector<std::vector<std::int64_t>> actions;  // firings of each action
  std::vector<ChannelResult> channels;
  std::vector<Wait> waits;  // where it ended because nothing can fire
  std::optional<Deadlock> deadlock;
  std::vector<std::vector<std::int64_t>> strays;  // accesses out of bounds, by site
  std::vector<std::vector<std::int64_t>> rounds;  // entries and rounds of each counted loop, alternating
  std::vector<std::int64_t> idle_tail;            // of a livelock: firings after the last one that moved a token
  std::string wrong_order = "";  // why a static order cannot be followed; counts as a deadlock

  std::int64_t run_ns = 0;    // first visit to the last that found work, without set-up
  std::int64_t start_ns = 0;  // of CLOCK_MONOTONIC, at these moments
  std::int64_t end_ns = 0;
  std::uint64_t counter_start = 0;  // of the counter of the machine (counter.hpp), at the same moments
  std::uint64_t counter_end = 0;
  bool pinned = false;
  std::vector<ThreadReport> threads;
  std::vector<PingPong> ping_pong;
  std::optional<GpuReport> gpu;  // where an actor was on one
};

}  // namespace dse
