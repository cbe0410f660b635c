// What a generated actor is made of on a GPU: its base class, its connections, and the visit that runs it. The names
// and what they mean are those of dse/actor.hpp, so that the text of an actor is the same on both sides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "dse/device/batch.hpp"
#include "dse/device/clock.hpp"
#include "dse/device/fault.hpp"
#include "dse/device/plan.hpp"
#include "dse/device/ports.hpp"
#include "dse/lists.hpp"
#include "dse/numbers.hpp"
#include "dse/where.hpp"

namespace dse::device {

using NarrowId = std::uint8_t;
using WideId = std::uint16_t;

enum class Condition : std::uint8_t { waits, ready, lacks_room };

/// The kinds of wait.hpp, in its order.
enum class WaitKind : std::int32_t { tokens, guard, room, unconnected };

/// What one candidate action waits for, as generated code writes it.
struct Wait {
  int action = 0;
  WaitKind kind = WaitKind::guard;
  int port = -1;
  std::int64_t have = 0;
  std::int64_t need = 0;
};

/// Takes the waits of an actor.
class Waits {
 public:
  DSE_FN explicit Waits(ActorPlan& plan) : plan_(plan) { plan_.n_waits = 0; }
  DSE_FN void push_back(const Wait& wait) {
    plan_.waits[plan_.n_waits++] = {wait.action, static_cast<std::int32_t>(wait.kind), wait.port, wait.have, wait.need};
  }

 private:
  ActorPlan& plan_;
};

/// How an actor is connected: what its constructor gets.
struct Wires {
  ActorPlan& plan;
  Ring* const* inputs;
  Ring* const* const* outputs;
};

/// Counters that several threads may raise. `++tallies[k]` is the text that the processor's side has for plain numbers.
class Tallies {
 public:
  struct One {
    DSE_FN void operator++() { DeviceRef<std::int64_t>(count).fetch_add(1, cuda::memory_order_relaxed); }
    std::int64_t& count;
  };
  DSE_FN explicit Tallies(std::int64_t* counts) : counts_(counts) {}
  DSE_FN One operator[](int k) const { return {counts_[k]}; }

 private:
  std::int64_t* counts_;
};

/// Set all elements of a list to zero.
template <class L>
DSE_FN void clear(L& list) {
  DSE_LOOP for (std::int64_t k = 0; k != L::elements; ++k) {
    list.data()[k] = {};
  }
}

class Actor {
 public:
  DSE_FN explicit Actor(const Wires& wires)
      : rounds(wires.plan.rounds),
        needs_steady(wires.plan.needs_steady),
        shown_every(wires.plan.shown_every),
        plan_(wires.plan) {}

  DSE_FN void stray(int site) { ++Tallies(plan_.strays)[site]; }
  DSE_FN void at(int) {}

  /// Count a firing, and keep its id where a trace is kept: `room_for_ids` has said that there is room.
  DSE_FN void fired(int action) {
    ++plan_.counts[action];
    if (plan_.ids != nullptr) {
      const std::uint64_t place = static_cast<std::uint64_t>(made) & plan_.ids_mask;
      if (plan_.narrow) {
        static_cast<NarrowId*>(plan_.ids)[place] = static_cast<NarrowId>(action);
      } else {
        static_cast<WideId*>(plan_.ids)[place] = static_cast<WideId>(action);
      }
    }
    ++made;
  }

  /// Return for how many firings, of `wanted`, the ring of ids has room.
  DSE_FN std::int64_t room_for_ids(std::int64_t wanted) {
    if (plan_.ids == nullptr) {
      return wanted;
    }
    const std::int64_t size = static_cast<std::int64_t>(plan_.ids_mask) + 1;
    if (size - (made - ids_taken_) < wanted) {
      ids_taken_ = load(*plan_.ids_read, true);
    }
    const std::int64_t room = size - (made - ids_taken_);
    return room < wanted ? room : wanted;
  }

  /// Let the lanes of the group fire an action; see fire_together.
  DSE_FN std::int64_t together(int action, std::int64_t most, bool asks) {
    return fire_together(plan_, action, most, asks);
  }
  /// Let the lanes of the block do the rounds of a loop; see share_rounds.
  DSE_FN void share(int loop, std::int64_t rounds) { share_rounds(plan_, loop, rounds); }
  DSE_FN ActorTimes& times() { return plan_.times; }

  DSE_FN void show_ids() {
    if (plan_.ids != nullptr) {
      store(*plan_.ids_written, made, true);
    }
  }

  Condition condition = Condition::ready;
  bool moved = false;  // a token, in the last visit
  std::int64_t made = 0;  // firings
  const Tallies rounds;
  const bool needs_steady;
  const std::int64_t shown_every;

 private:
  ActorPlan& plan_;
  std::int64_t ids_taken_ = 0;
};

/// What the profiler's program has in place of it is `VisitClock`.
using NoTimer = NoVisitClock;

/// One resumption of an actor: see `Visit` of dse/actor.hpp. `Timer` notes what it takes.
template <class Ports, class Id = NarrowId, class Timer = NoTimer>
class Visit {
 public:
  DSE_FN Visit(Actor& self, Ports& home)
      : ports(home), self_(self), home_(home), unshown_(self.shown_every), timer_(self.times()) {
    timer_.enters();
    each_end([](auto& port) { port.refresh(); }, [this](EndTimes& of) { timer_.refreshed(of); });
    while (self_.needs_steady && !steady()) {
    }
  }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;
  DSE_FN ~Visit() {
    bool moved = false;
    timer_.leaves();
    each_end([&moved](auto& port) { moved = port.publish() || moved; },
             [this](EndTimes& of) {
               timer_.published(of);
               timer_.looked(of);
             });
    home_ = ports;
    self_.moved = moved;
    self_.condition = outcome;
  }

  DSE_FN void lasts(int) {}
  DSE_FN void chose(int) { timer_.reached(0); }
  DSE_FN void have_read(int) { timer_.reached(1); }
  DSE_FN void computed(int) { timer_.reached(2); }
  DSE_FN void fired(int action) {
    timer_.fired(action);
    self_.fired(action);
    if (--unshown_ == 0) {
      each_end([](auto& port) { port.expose(); }, [this](EndTimes& of) { timer_.published(of); });
      unshown_ = self_.shown_every;
    }
  }

  /// Let lanes fire an action, `most` times at most, from where the ports are. Return how often they did; less often, or
  /// never, where they do better to share the loops of each firing, which have so many rounds.
  DSE_FN std::int64_t together(int action, std::int64_t most, bool asks, std::int64_t rounds) {
    if (Timer::notes || most < 2 || here().crew == nullptr) {  // times are those of single firings
      return 0;
    }
    most = worth_together(*here().crew, most, rounds);
    if (most < 2) {
      return 0;
    }
    home_ = ports;
    return self_.together(action, most, asks);
  }

  /// Do the rounds of a loop of the firing, by the lanes of the block where there are some, else by `alone`.
  template <class Alone>
  DSE_FN void share(int loop, std::int64_t rounds, Alone&& alone) {
    if (rounds < 2 || here().crew == nullptr) {
      alone(AllRounds{rounds});
    } else {
      self_.share(loop, rounds);
    }
  }

  /// Lanes have fired an action so many times, and the ports are behind that.
  DSE_FN void fired(int action, std::int64_t count) {
    DSE_LOOP for (std::int64_t k = 0; k != count; ++k) {
      self_.fired(action);
    }
    unshown_ -= count;
    if (unshown_ <= 0) {
      ports.each([](auto& port) { port.expose(); });
      unshown_ = self_.shown_every;
    }
  }

  Ports ports;
  Condition outcome = Condition::waits;

 private:
  DSE_FN bool steady() {
    bool all = true;
    ports.each([&all](auto& port) { all = port.steady() && all; });
    return all;
  }

  /// Do something with each end, and note what that took.
  template <class Do, class Note>
  DSE_FN void each_end(Do&& act, [[maybe_unused]] Note&& note) {
    ports.each([&act, &note](auto& port) {
      act(port);
      if constexpr (Timer::notes) {
        note(port.times());
      }
    });
  }

  Actor& self_;
  Ports& home_;
  std::int64_t unshown_;
  Timer timer_;
};

}  // namespace dse::device
