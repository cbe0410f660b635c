// The kernel: each group runs its actors until the run is over, and tells how far it is.
//
// The last thread of the first block of a group leads it; where it has more threads and blocks, crew.hpp tells what they
// do. All groups must be at work at once, since they wait for each other: the launch is a cooperative one, which fails
// where that is impossible. What a group tells is what a thread of the processor tells;
// termination.hpp has the argument why a run that is found to be over is over.
#pragma once

#include <cstdint>
#include <new>

#include "dse/device/actor.hpp"
#include "dse/device/clock.hpp"
#include "dse/device/plan.hpp"
#include "dse/where.hpp"

#ifndef DSE_TIMED
#define DSE_TIMED 0
#endif

namespace dse::device {

/// Firings of a visit, at most: a group looks for the end of the run between visits.
inline constexpr std::int64_t visit_firings = 64;
/// Passes that found work between two looks at what the processor tells: a look is a trip over the link.
inline constexpr int passes_between_looks = 16;
inline constexpr unsigned shortest_nap_ns = 32;
inline constexpr unsigned longest_nap_ns = 8192;

#if DSE_TIMED
using Timing = VisitClock;
#else
using Timing = NoVisitClock;
#endif

enum class Errand : std::uint8_t { make, start, fire, explain, lanes };

/// What an actor is to do. `actor` is its base class, once it is made.
struct Call {
  Errand errand = Errand::make;
  ActorPlan* plan = nullptr;
  Actor* actor = nullptr;
  std::int64_t budget = 0;
  const Share* share = nullptr;  // of lanes
};

/// Do what is asked of an actor of the class `A`: a function of its own, or compilers take long for one of all classes.
template <class A>
DSE_APART void serve(Call& call) {
  A* const actor = static_cast<A*>(call.actor);
  switch (call.errand) {
    case Errand::make:
      call.actor = ::new (call.plan->object) A(Wires{*call.plan, call.plan->inputs, call.plan->outputs});
      break;
    case Errand::start: {
      [[maybe_unused]] const std::int64_t from = clock_now();
      actor->start();
      if constexpr (Timing::notes) {
        add(*call.plan->times.starting, clock_now() - from);
      }
      break;
    }
    case Errand::fire:
      actor->template fire<Timing>(call.budget);
      break;
    case Errand::explain: {
      Waits waits(*call.plan);
      actor->explain(waits);
      break;
    }
    case Errand::lanes:
      if constexpr (A::has_lanes) {
        actor->lanes(*call.share);
      }
      break;
  }
}

/// One group at work. `Serve` has the function `serve(unit, call)` of the program, which knows all classes.
template <class Serve>
class GroupRun {
 public:
  DSE_FN GroupRun(Plan& plan, const Group& group) : plan_(plan), group_(group), words_(*group.words), clock_(group.clock) {}

  DSE_FN void run() {
    clock_.begin();
    begin();
    while (!stopped()) {
      pass();
    }
    clock_.end();
    for (std::int32_t k = 0; k != group_.count; ++k) {
      ask(k, Errand::explain);
    }
  }

 private:
  DSE_FN ActorPlan& plan_of(std::int32_t k) { return plan_.actors[group_.first + k]; }
  DSE_FN Actor& actor_of(std::int32_t k) { return *static_cast<Actor*>(plan_of(k).object); }

  DSE_APART void ask(std::int32_t k, Errand errand, std::int64_t budget = 0) {
    ActorPlan& plan = plan_of(k);
    here().actor = group_.first + k;
    Call call{errand, &plan, errand == Errand::make ? nullptr : &actor_of(k), budget, nullptr};
    Serve::serve(plan.unit, call);
  }

  /// Make the actors and run their initializers.
  DSE_FN void begin() {
    for (std::int32_t k = 0; k != group_.count; ++k) {
      ask(k, Errand::make);
    }
    for (std::int32_t k = 0; k != group_.count; ++k) {
      ask(k, Errand::start);
      firings_ += actor_of(k).made;
      actor_of(k).show_ids();
    }
    tell_firings();
  }

  /// Look at what the processor tells; return whether the run is over.
  DSE_FN bool stopped() {
    if (unlooked_ != 0) {
      --unlooked_;
      return false;
    }
    unlooked_ = passes_between_looks;
    clock_.look();
    request_ = load(plan_.control->request, true);
    return load(plan_.control->stop, true) != 0;
  }

  /// Try every actor. As in a pass of the processor, `request_` was read before.
  DSE_FN void pass() {
    bool moved = false;
    hindered_ = false;
    const std::int64_t before = firings_;
    for (std::int32_t k = 0; k != group_.count; ++k) {
      moved = turn(k) || moved;
    }
    const std::int64_t made = firings_ - before;
    if (moved) {
      works();
    } else if (hindered_) {
      nap();
    } else {
      idles(made);
    }
  }

  /// Let an actor have its turn; return whether a token moved.
  DSE_FN bool turn(std::int32_t k) {
    bool moved = false;
    do {
      moved = visit(k) || moved;
    } while (group_.turn == Turn::stay && group_.count != 1 && actor_of(k).moved &&
             actor_of(k).condition == Condition::ready);
    return moved;
  }

  DSE_FN bool visit(std::int32_t k) {
    Actor& actor = actor_of(k);
    const std::int64_t budget = actor.room_for_ids(group_.turn == Turn::one ? 1 : most_firings());
    actor.moved = false;
    if (budget == 0) {
      hindered_ = true;  // the processor is to take ids first: the group is not idle
      return false;
    }
    const std::int64_t before = actor.made;
    ask(k, Errand::fire, budget);
    if (actor.made != before) {
      firings_ += actor.made - before;
      actor.show_ids();
    }
    return actor.moved;
  }

  /// Two rounds of all lanes, or the firings of a visit by one thread.
  DSE_FN std::int64_t most_firings() const {
    const std::int64_t lanes = group_.crew == nullptr ? 0 : static_cast<std::int64_t>(group_.crew->lanes) * group_.crew->blocks;
    return 2 * lanes < visit_firings ? visit_firings : 2 * lanes;
  }

  DSE_FN void works() {
    nap_ns_ = shortest_nap_ns;
    if (epoch_ % 2 == 1) {
      SystemRef<std::uint64_t>(words_.epoch).store(++epoch_, cuda::memory_order_release);
    }
    if (unlooked_ == 0) {
      tell_firings();
    }
  }

  DSE_FN void idles(std::int64_t made) {
    unlooked_ = 0;
    tell_firings();
    if (made != 0) {
      idle_firings_ += made;
      SystemRef<std::int64_t>(words_.idle_firings).store(idle_firings_, cuda::memory_order_relaxed);
    }
    if (epoch_ % 2 == 0) {
      SystemRef<std::uint64_t>(words_.epoch).store(++epoch_, cuda::memory_order_release);
    }
    if (made == 0 && confirmed_ != request_) {
      confirmed_ = request_;
      SystemRef<std::uint64_t>(words_.confirmed).store(confirmed_, cuda::memory_order_release);
    }
    if (made == 0) {
      nap();
    }
  }

  DSE_FN void tell_firings() {
    if (told_ != firings_) {
      told_ = firings_;
      SystemRef<std::int64_t>(words_.firings).store(firings_, cuda::memory_order_relaxed);
    }
  }

  DSE_FN void nap() {
    __nanosleep(nap_ns_);
    nap_ns_ = nap_ns_ < longest_nap_ns ? 2 * nap_ns_ : nap_ns_;
  }

  Plan& plan_;
  const Group& group_;
  GroupWords& words_;
  ClockSamples clock_;
  std::uint64_t epoch_ = 0;
  std::uint64_t request_ = 0;
  std::uint64_t confirmed_ = 0;
  std::int64_t firings_ = 0;
  std::int64_t told_ = 0;
  std::int64_t idle_firings_ = 0;
  int unlooked_ = 0;
  unsigned nap_ns_ = shortest_nap_ns;
  bool hindered_ = false;
};

/// What each lane of a group does: its share of what is asked for, until it is asked to end.
template <class Serve>
DSE_FN void work_in_lane(Plan& plan, Crew& crew, std::int32_t rank) {
  const std::int64_t first = static_cast<std::int64_t>(rank) * crew.lanes + threadIdx.x;
  for (;;) {
    meet_block();
    if (crew.task == Task::end) {
      return;
    }
    ActorPlan& actor = plan.actors[crew.actor];
    const Share share(crew, lane_fault(plan, blockIdx.x, threadIdx.x), first);
    Call call{Errand::lanes, &actor, static_cast<Actor*>(actor.object), 0, &share};
    Serve::serve(actor.unit, call);
    meet_block();
  }
}

/// What each thread does.
template <class Serve>
DSE_FN void run_block(Plan* plan) {
  const Block& block = plan->blocks[blockIdx.x];
  const Group& group = plan->groups[block.group];
  if (threadIdx.x != static_cast<unsigned>(plan->lanes)) {
    if (group.crew != nullptr) {
      work_in_lane<Serve>(*plan, *group.crew, block.rank);
    }
    return;
  }
  here() = {plan, -1, group.crew};
  if (block.rank != 0) {
    follow(*group.crew);
    return;
  }
  GroupRun<Serve>(*plan, group).run();
  if (group.crew != nullptr) {
    command(*group.crew, Task::end);
  }
}

}  // namespace dse::device
