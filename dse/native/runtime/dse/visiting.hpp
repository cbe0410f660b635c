// One visit of an actor by an engine, and what the actor may throw meanwhile.
#pragma once

#include <cstdint>
#include <new>
#include <type_traits>

#include "dse/at_work.hpp"
#include "dse/faults.hpp"
#include "dse/instances.hpp"
#include "dse/records.hpp"

namespace dse {

/// An actor needed more memory than there is. The message counts firings, so it is written when no thread runs.
struct NoMemory {
  std::size_t actor;
};

struct Visited {
  std::int64_t firings;
  bool ended;  // a source of the actor's own is used up
};

/// Return why the visit of an actor ended.
inline VisitEnd end_of(const Actor& actor) {
  if (actor.finished) {
    return VisitEnd::other;
  }
  switch (actor.condition) {
    case Condition::ready:
      return VisitEnd::budget_spent;
    case Condition::lacks_room:
      return VisitEnd::lacks_room;
    default:
      return VisitEnd::lacks_tokens;
  }
}

/// Notes a visit in the profiler's program, however the visit is left.
class VisitNote {
 public:
  /// `made`: firings of the actor before the visit.
  VisitNote(const Actor& actor, std::int64_t made) : actor_(actor), made_(made), records_(actor.pulse->records) {
    if (records_ != nullptr) {
      records_->begin_visit();
    }
  }
  VisitNote(const VisitNote&) = delete;
  VisitNote& operator=(const VisitNote&) = delete;
  ~VisitNote() {
    if (records_ != nullptr) {
      records_->end_visit(actor_.log.actor(), made_, actor_.log.made() - made_, end_of(actor_));
    }
  }

 private:
  const Actor& actor_;
  const std::int64_t made_;
  ThreadRecords* const records_;
};

/// Stands for `VisitNote` in the plain program.
struct NoVisitNote {
  NoVisitNote(const Actor&, std::int64_t) {}
};

/// Let an actor do `work`. Throws RunError, NoMemory, and what natives end a run with.
template <class Work>
Visited visit_actor(Instances& instances, std::size_t index, Work&& work) {
  Actor& actor = *instances.actors[index];
  actor.log.make_room();
  const std::int64_t before = actor.log.made();
  const AtWork at_work(instances.info(index), before);
  const std::conditional_t<timed, VisitNote, NoVisitNote> note(actor, before);
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
  return {actor.log.made() - before, actor.finished};
}

}  // namespace dse
