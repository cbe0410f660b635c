// Several firings of one action at once, or rounds of a loop of one firing: the leader of a group asks, its lanes do,
// each its share.
//
// The last thread of a block leads it; that of the first block of a group leads the group, and is the only one that
// chooses actions, moves positions and publishes them. The others ("lanes") wait at the barrier of their block. What the
// leader wrote before it came to the barrier a lane sees behind it, and the other way round; between the blocks of a
// group words of device scope carry the same, so that a release by the leader covers the tokens that all lanes wrote.
//
// A lane that fails writes down in which firing, comes to the barrier as if it were done, and is gone after the next
// order, which is to end: the leader tells of the first firing that failed, as one thread would have met it.
#pragma once

#include <cstdint>

#include "dse/device/plan.hpp"
#include "dse/device/words.hpp"
#include "dse/where.hpp"

namespace dse::device {

/// Wait for all threads of the block, which may come here from different places.
DSE_FN inline void meet_block() {
#ifdef DSE_EMULATED
  dse_emulation::meet_block();
#else
  asm volatile("barrier.sync 0;" ::: "memory");
#endif
}

DSE_FN inline LaneFault& lane_fault(const Plan& plan, unsigned block, unsigned lane) {
  return plan.lane_faults[block * static_cast<unsigned>(plan.lanes) + lane];
}

/// Wait in steps that grow, as long as a word has not the value that is wanted.
DSE_FN inline void await(std::uint64_t& word, std::uint64_t value) {
  unsigned nap_ns = 16;
  while (load(word, false) != value) {
    __nanosleep(nap_ns);
    nap_ns = nap_ns < 8192 ? 2 * nap_ns : nap_ns;
  }
}

/// Let all lanes do what the crew's words say, and come back when they are done, or on their way to their end.
DSE_FN inline void command(Crew& crew, Task task) {
  crew.task = task;
  store(crew.asked, crew.asked + 1, false);
  meet_block();
  if (task != Task::end) {
    meet_block();
    await(crew.done, crew.asked * static_cast<std::uint64_t>(crew.blocks - 1));
  }
}

/// Let the lanes of the leader's own block do what the crew's words say: the other blocks hear nothing of it.
DSE_FN inline void command_block(Crew& crew, Task task) {
  crew.task = task;
  meet_block();
  meet_block();
}

/// Return the fault of the first firing, or round, that failed.
DSE_FN inline const LaneFault& first_fault(const Plan& plan, const Crew& crew) {
  const LaneFault* first = nullptr;
  DSE_LOOP for (std::int32_t block = 0; block != crew.blocks; ++block) {
    DSE_LOOP for (std::int32_t lane = 0; lane != crew.lanes; ++lane) {
      const LaneFault& one = lane_fault(plan, static_cast<unsigned>(crew.first_block + block), static_cast<unsigned>(lane));
      if (one.message != nullptr && (first == nullptr || one.firing < first->firing)) {
        first = &one;
      }
    }
  }
  return *first;
}

/// Lead a block of a group that another one leads: hand its orders on to the lanes, and tell it when they are done.
DSE_FN inline void follow(Crew& crew) {
  for (std::uint64_t order = 1;; ++order) {
    await(crew.asked, order);
    meet_block();
    if (crew.task == Task::end) {
      return;
    }
    meet_block();
    DeviceRef<std::uint64_t>(crew.done).fetch_add(1, cuda::memory_order_acq_rel);
  }
}

/// What one lane does of a batch, or of a loop: the firings or rounds `first`, `first + step`, ... below `count`.
class Share {
 public:
  DSE_FN Share(Crew& crew, LaneFault& fault, std::int64_t first)
      : action(crew.action),
        asks(crew.task == Task::ask),
        rounds(crew.task == Task::rounds),
        first(first),
        step(static_cast<std::int64_t>(crew.lanes) * (rounds ? 1 : crew.blocks)),
        count(crew.count),
        crew_(crew),
        fault_(fault) {}

  /// A firing or round begins: what fails from here on fails in it.
  DSE_FN void begins(std::int64_t firing) const { fault_.firing = firing; }

  /// The answer to the question: this firing would not choose the action.
  DSE_FN void ends_at(std::int64_t firing) const {
    const DeviceRef<std::int64_t> ends(crew_.ends);
    std::int64_t known = ends.load(cuda::memory_order_relaxed);
    while (firing < known && !ends.compare_exchange_weak(known, firing, cuda::memory_order_relaxed)) {
    }
  }

  const int action;
  const bool asks;
  const bool rounds;
  const std::int64_t first;
  const std::int64_t step;
  const std::int64_t count;

 private:
  Crew& crew_;
  LaneFault& fault_;
};

/// All rounds of a loop, where the thread that fires does them alone.
struct AllRounds {
  std::int64_t count;
  static constexpr std::int64_t first = 0;
  static constexpr std::int64_t step = 1;
  DSE_FN void begins(std::int64_t) const {}
};

/// Return how many rounds a loop from `low` to `high` has.
DSE_FN inline std::int64_t rounds_of(std::int64_t low, std::int64_t high) { return high < low ? 0 : high - low + 1; }

/// Return how many of `most` firings are better made at once, a lane each, than one by one with loops of so many rounds
/// shared out: by how many firings one lane makes, and how many rounds one does, the rest of a firing aside.
DSE_FN inline std::int64_t worth_together(const Crew& crew, std::int64_t most, std::int64_t rounds) {
  const std::int64_t all = static_cast<std::int64_t>(crew.lanes) * crew.blocks;
  const std::int64_t shared = (rounds + crew.lanes - 1) / crew.lanes;  // rounds of one lane
  const auto worth = [&](std::int64_t firings) { return (firings + all - 1) / all * rounds <= firings * shared; };
  if (rounds == 0 || worth(most)) {
    return most;
  }
  const std::int64_t whole = most / all * all;
  return whole != 0 && worth(whole) ? whole : 0;
}

/// The visit of one firing in a lane: it has ports of its own, and nobody hears of it.
template <class Ports>
class LaneVisit {
 public:
  DSE_FN explicit LaneVisit(const Ports& at) : ports(at) {}
  DSE_FN void lasts(int) {}
  DSE_FN void chose(int) {}
  DSE_FN void have_read(int) {}
  DSE_FN void computed(int) {}
  DSE_FN void fired(int) {}

  Ports ports;
};

/// Return `most`, or as many firings as there are tokens, or room, for.
DSE_FN inline std::int64_t fitting(std::int64_t most, std::int64_t there, std::int64_t each) {
  const std::int64_t firings = each == 1 ? there : there / each;
  return firings < most ? firings : most;
}

}  // namespace dse::device
