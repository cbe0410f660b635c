// One visit of an actor by an engine, and what the actor may throw meanwhile.
#pragma once

#include <cstdint>
#include <new>

#include "dse/at_work.hpp"
#include "dse/faults.hpp"
#include "dse/instances.hpp"

namespace dse {

/// An actor needed more memory than there is. The message counts firings, so it is written when no thread runs.
struct NoMemory {
  std::size_t actor;
};

struct Visited {
  std::int64_t firings;
  bool ended;  // a source of the actor's own is used up
};

/// Let an actor do `work`. Throws RunError, NoMemory, and what natives end a run with.
template <class Work>
Visited visit_actor(Instances& instances, std::size_t index, Work&& work) {
  Actor& actor = *instances.actors[index];
  actor.log.make_room();
  const std::int64_t before = actor.log.made();
  actor_at_work = &instances.info(index);
  try {
    work(actor);
  } catch (const SourceExhausted&) {
    actor.finished = true;
    actor.condition = Condition::waits;
    actor.pulse->moved = true;  // in the middle of a visit: it may have moved tokens before
  } catch (const Fault& fault) {
    throw placed(instances.info(index), actor, fault);
  } catch (const std::bad_alloc&) {
    throw NoMemory{index};
  }
  actor_at_work = nullptr;
  return {actor.log.made() - before, actor.finished};
}

}  // namespace dse
