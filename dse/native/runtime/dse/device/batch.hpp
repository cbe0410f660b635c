// What the leader of a group does to let its lanes fire an action several times at once, or share a loop.
#pragma once

#include <cstdint>

#include "dse/device/crew.hpp"
#include "dse/device/fault.hpp"
#include "dse/device/plan.hpp"
#include "dse/device/words.hpp"
#include "dse/where.hpp"

namespace dse::device {

/// End where a lane has failed, with the fault of the first firing or round that did.
DSE_FN inline void end_if_failed(const Crew& crew) {
  if (load(crew.failed, false) != 0) {
    const LaneFault& first = first_fault(*here().plan, crew);
    end_group(first.message, first.site, first.expected);
  }
}

/// Let lanes fire an action of the actor at work, `most` times at most. Its ports lie where the lanes find them.
/// `asks`: they are to find out first how often in a row the action would be chosen. Return how often it fired; 0 where
/// one thread would do as well. Does not come back where a firing fails.
DSE_APART inline std::int64_t fire_together(ActorPlan& actor, int action, std::int64_t most, bool asks) {
  Crew& crew = *here().crew;
  crew.actor = here().actor;
  crew.action = action;
  crew.count = most;
  if (asks) {
    crew.ends = most;
    command(crew, Task::ask);
    crew.count = crew.ends;
  }
  if (crew.count < 2) {
    return 0;
  }
  command(crew, Task::fire);
  end_if_failed(crew);
  actor.batched += crew.count;
  return crew.count;
}

/// Let the lanes of the leader's block do the rounds of a loop of the actor at work. Does not come back where one fails.
DSE_APART inline void share_rounds(ActorPlan& actor, int loop, std::int64_t rounds) {
  Crew& crew = *here().crew;
  crew.actor = here().actor;
  crew.action = loop;
  crew.count = rounds;
  command_block(crew, Task::rounds);
  end_if_failed(crew);
  actor.shared += rounds;
}

}  // namespace dse::device
