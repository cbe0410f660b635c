// What a generated actor is made of: its base class, its connections, and the visit that runs it.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "dse/at_work.hpp"
#include "dse/fifo.hpp"
#include "dse/log.hpp"
#include "dse/tables.hpp"
#include "dse/timing.hpp"
#include "dse/wait.hpp"

#if DSE_TIMED
#include "dse/records.hpp"
#endif

namespace dse {

class Context;

/// Whether an actor can fire: waits for tokens or a guard; ready, or not known; waits for room.
enum class Condition : std::uint8_t { waits, ready, lacks_room };

/// What the visits of one thread tell the engine.
struct Pulse {
  bool moved = false;                // a token was read or written since the engine cleared this
  ThreadRecords* records = nullptr;  // of the profiler's program, where it notes visits
};

/// How an actor is connected: what its constructor gets.
struct Wires {
  Wires(Context& context, const ActorInfo& info) : context(context), info(info) {}
  Context& context;
  const ActorInfo& info;
  std::vector<Channel*> inputs;                // by port; null where nothing is connected
  std::vector<std::vector<Channel*>> outputs;  // by port, then by reader
};

/// One actor of a running network.
class Actor {
 public:
  explicit Actor(const Wires& wires)
      : context(wires.context),
        strays(wires.info.sites.size()),
        rounds(2 * static_cast<std::size_t>(wires.info.counted_loops)) {}
  Actor(const Actor&) = delete;
  Actor& operator=(const Actor&) = delete;
  virtual ~Actor() = default;

  /// Make the choice of the initializers, once, before `run`.
  virtual void start() = 0;

  /// Fire until blocked or until `budget` firings are made. `condition` says afterwards what holds.
  virtual void run(std::int64_t budget) = 0;

  /// Return whether another thread may have published something that the last visit did not see.
  virtual bool news() { return true; }

  /// Say for each candidate action of the present state what it waits for.
  virtual void explain(std::vector<Wait>& waits) = 0;

  /// Count an access out of bounds.
  void stray(int site) noexcept { ++strays[static_cast<std::size_t>(site)]; }

  /// Say where the program is, for what fails without knowing its place: before each call of a native.
  void at(int site) noexcept { site_now = site; }

  Context& context;
  Condition condition = Condition::ready;
  bool finished = false;      // a source of its own is used up
  bool needs_steady = false;  // several of its writers may be at work while it looks at their FIFOs
  std::int64_t shown_every = std::numeric_limits<std::int64_t>::max();  // firings until a visit publishes and goes on
  int site_now = -1;
  Pulse* pulse = nullptr;
  Log log;
  Singled singled;  // of the profiler's program
  std::vector<std::int64_t> strays;  // by site
  std::vector<std::int64_t> rounds;  // entries and rounds of each counted loop
};

template <class T>
void Reader<T>::publish(Actor& self) {
  if (position_ == fifo_->read_reached && !fifo_->loud) {
    return;
  }
  fifo_->read_reached = position_;
  self.pulse->moved = true;
  if (!fifo_->crossing) {
    expose();
    if (fifo_->source->condition == Condition::lacks_room) {
      fifo_->source->condition = Condition::ready;
    }
  } else if (position_ - fifo_->read.load(std::memory_order_relaxed) >= fifo_->read_block) {
    fifo_->show_read();
  }
}

template <class T, int N>
void Writer<T, N>::publish(Actor& self) {
  bool loud = false;
  for (const Fifo<T>* fifo : fifos_) {
    loud = loud || fifo->loud;
  }
  if (position_ == fifos_[0]->written_reached && !loud) {
    return;
  }
  self.pulse->moved = true;
  for (Fifo<T>* fifo : fifos_) {
    publish_to(*fifo);
  }
}

template <class T, int N>
void Writer<T, N>::publish_to(Fifo<T>& fifo) {
  if (fifo.hashing) {
    fifo.hash_to(position_);
  }
  fifo.written_reached = position_;
  if (!fifo.crossing) {
    fifo.written.store(position_, std::memory_order_release);
    fifo.target->condition = Condition::ready;
  } else if (position_ - fifo.written.load(std::memory_order_relaxed) >= fifo.write_block) {
    fifo.show_written();
  }
}

/// One resumption of an actor. It takes one snapshot of what its peers have published, lets the actor work on a copy of
/// its ends that stays in registers, and on leaving, by a fault too, publishes what moved and sets the condition.
///
/// `Ports` is a class of the actor with a member for each connected port that some action uses, and
///     template <class Do> void each(Do&& act) { act(in0); act(out0); }
/// over its readers, then its writers. `Id` is `NarrowId`, or `WideId` with more than 256 actions.
/// `Timer` times firings of actions that are timed singly (records.hpp), or does nothing.
template <class Ports, class Id = NarrowId, class Timer = NoTimer>
class Visit {
 public:
  Visit(Actor& self, Ports& home)
      : ports(home),
        self_(self),
        home_(home),
        next_(self.log.next<Id>()),
        unshown_(self.shown_every),
        timer_(self.pulse->records, self.singled, self.log.made()) {
    ports.each([](auto& port) { port.refresh(); });
    while (self.needs_steady && !steady()) {
    }
  }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;
  ~Visit() {
    ports.each([this](auto& port) { port.publish(self_); });
    home_ = ports;
    self_.log.wrote(next_);
    self_.condition = outcome;  // last: a connection to itself has woken the actor
  }

  // A firing that may go on for ever says so before; -1: it has ended.
  void lasts(int action) { note_action(action); }

  // A firing says what it has done so far: the choice is made, inputs are read, outputs computed, written.
  void chose(int action) { reached(action, 0); }
  void have_read(int action) { reached(action, 1); }
  void computed(int action) { reached(action, 2); }
  void fired(int action) {
    if (timer_.times(action)) {
      timer_.fired(self_.log.actor(), action, self_.log.made() + (next_ - self_.log.next<Id>()));
    }
    *next_++ = static_cast<Id>(action);
    if (--unshown_ == 0) {
      ports.each([](auto& port) { port.expose(); });  // who sleeps is waked at the end of the visit
      unshown_ = self_.shown_every;
    }
  }

  Ports ports;
  Condition outcome = Condition::waits;

 private:
  void reached(int action, int phase) {
    if (timer_.times(action)) {
      timer_.reached(phase);
    }
  }

  /// Return whether no level has changed since it was read, so that all were seen at one moment. As the actor reads
  /// nothing meanwhile, its writers fill their FIFOs at last, and this comes true.
  bool steady() {
    bool all = true;
    ports.each([&all](auto& port) { all = port.steady() && all; });
    return all;
  }

  Actor& self_;
  Ports& home_;
  Id* next_;
  std::int64_t unshown_;  // firings that are left until what they moved is published
  [[no_unique_address]] Timer timer_;
};

/// Return whether some port of an actor has news for it: tokens, and room where it lacks that.
template <class Ports>
bool any_news(Ports& ports, Condition condition) {
  bool any = false;
  const bool lacks_room = condition == Condition::lacks_room;
  ports.each([&](const auto& port) { any = any || port.news(lacks_room); });
  return any;
}

/// Let an actor fire until blocked or until `budget` firings are made: `fire<Timer>` of its class does so. Also in the
/// profiler's program, an actor of which no action is timed singly does what it does in the plain one: tests in each phase
/// of each firing would take long against a short firing.
template <class Self>
void resume(Self& self, std::int64_t budget) {
#if DSE_TIMED
  if (!self.singled.empty()) {
    self.template fire<FiringTimer>(budget);
    return;
  }
#endif
  self.template fire<NoTimer>(budget);
}

}  // namespace dse
