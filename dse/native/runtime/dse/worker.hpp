// One thread of a mapped run: it visits the actors of its team as the policy says, and reports what it found.
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <memory>
#include <thread>
#include <vector>

#include "dse/counter.hpp"
#include "dse/halt.hpp"
#include "dse/instances.hpp"
#include "dse/policies.hpp"
#include "dse/teams.hpp"
#include "dse/termination.hpp"
#include "dse/tickets.hpp"
#include "dse/visiting.hpp"
#include "dse/waiting.hpp"

namespace dse {

/// What all threads of a run share.
struct Together {
  /// `groups`: of a kernel, each of which takes part as a thread does.
  Together(Instances& all, const RunOptions& options, std::size_t threads, std::size_t groups = 0)
      : instances(all),
        termination(halt, threads + groups, options.idle_firings),
        tickets(options.max_firings, std::max<std::size_t>(threads, 1)) {}
  Instances& instances;
  Halt halt;
  Termination termination;
  TicketPool tickets;
};

class Worker final : public Visitor {
 public:
  /// `records` may be null: nothing is noted.
  Worker(Together& together, Team& team, std::size_t thread, bool crowded, ThreadRecords* records)
      : together_(together),
        team_(team),
        slot_(together.termination.slot(thread)),
        tickets_(together.tickets),
        chooser_(make_chooser(team)),
        patience_(team.parking, together.halt, crowded) {
    slot_.may_skip = chooser_->may_skip();
    pulse_.records = records;
  }

  /// Tell it of a thread at the other end of a FIFO, before the run.
  void add_peer(const Slot& slot) { patience_.peers.add(slot.waits); }

  /// Work until the run is over.
  void run() {
    note_wait();  // before the first visit there was none, or one of an initializer
    first_work_ = last_work_ = Moment::now();
    try {
      while (!together_.halt.asked()) {
        pass();
      }
    } catch (const ProgramExit& program) {
      together_.halt.exit(program);
    } catch (...) {
      together_.halt.fail(std::current_exception());
    }
    patience_.leave();
    if (busy_) {
      last_work_ = Moment::now();
    }
  }

  /// When the thread last found work, as nearly as it is known.
  const Moment& last_work() const { return last_work_; }

  /// When the thread began.
  const Moment& first_work() const { return first_work_; }

  const WaitCounts& waits() const { return patience_.counts; }

  const Team& team() const { return team_; }

  const Chooser& chooser() const { return *chooser_; }

  // What a policy asks for.

  std::int64_t visit(std::size_t place, std::int64_t budget) override {
    Member& member = team_.members[place];
    if (!team_.shared()) {
      return visit_member(member, budget);
    }
    return claim(member) ? visit_claimed(member, budget) : 0;
  }

  std::int64_t visit_patiently(std::size_t place, std::int64_t budget) override {
    Member& member = team_.members[place];
    while (!claim(member)) {
      if (together_.halt.asked()) {
        return 0;
      }
      note_wait();
      std::this_thread::yield();
    }
    return visit_claimed(member, budget);
  }

  bool moved() const override { return pulse_.moved; }

  bool may_go_on() const override { return may_go_on_; }

  bool has_ended(std::size_t place) const override {
    Actor& actor = *together_.instances.actors[team_.members[place].index];
    std::vector<Wait> waits;
    if (!actor.finished) {
      actor.explain(waits);
    }
    return std::none_of(waits.begin(), waits.end(), [](const Wait& wait) {
      return wait.kind == WaitKind::tokens || wait.kind == WaitKind::room;
    });
  }

 private:
  /// Take an actor for this thread; return whether no other has it.
  static bool claim(Member& member) {
    return !member.taken.load(std::memory_order_relaxed) && !member.taken.exchange(true, std::memory_order_acquire);
  }

  std::int64_t visit_claimed(Member& member, std::int64_t budget) {
    const std::int64_t made = visit_member(member, budget);
    member.taken.store(false, std::memory_order_release);
    return made;
  }

  std::int64_t visit_member(Member& member, std::int64_t budget) {
    Actor& actor = *together_.instances.actors[member.index];
    pulse_.moved = false;
    if (actor.finished || (actor.condition != Condition::ready && !may_be_ready(member, actor)) ||
        together_.halt.asked()) {
      return 0;
    }
    budget = tickets_.grant(budget);
    if (budget == 0) {
      starved_ = true;
      return 0;
    }
    actor.pulse = &pulse_;
    const Visited visited = visit_actor(together_.instances, member.index, [budget](Actor& one) { one.run(budget); });
    if (visited.ended) {
      wake_team();
    }
    tickets_.use(visited.firings);
    firings_ += visited.firings;
    moved_ = moved_ || pulse_.moved;
    may_go_on_ = actor.condition == Condition::ready;
    return visited.firings;
  }

  /// Return whether an actor that could not fire may be able to by now, though no member of the partition says so.
  bool may_be_ready(const Member& member, Actor& actor) {
    if (member.polled || (member.listens && actor.news())) {
      return true;
    }
    if constexpr (timed) {
      if (member.listens && pulse_.records != nullptr) {
        pulse_.records->passes();
      }
    }
    return false;
  }

  /// Firings between two publications of all that was moved, at least.
  static constexpr std::int64_t firings_unseen = 8;

  /// A thread that has waited for a shorter time does not report that it found nothing to do. Reports take a lock, and
  /// threads that wait for each other after every few firings would wait for it, tens of microseconds each time.
  static constexpr std::int64_t unreported_ns = 20'000;

  void pass() {
    const std::uint64_t request = together_.termination.request();
    moved_ = false;
    starved_ = false;
    const std::int64_t before = firings_;
    chooser_->pass(*this);
    skip_if_asked(firings_ == before && !moved_);
    const std::int64_t made = firings_ - before;
    slot_.firings.store(firings_, std::memory_order_relaxed);
    if (moved_) {
      works(made);
    } else {
      idles(request, made);
    }
  }

  void works(std::int64_t made) {
    if (!busy_) {
      busy_ = true;
      Termination::works(slot_);
      patience_.reset();
    }
    unseen_ += made;
    if (unseen_ >= firings_unseen) {
      show_all();
    }
  }

  void idles(std::uint64_t request, std::int64_t made) {
    const bool has_worked = busy_;
    if (busy_) {
      busy_ = false;
      last_work_ = Moment::now();
    }
    show_all();
    wake_peers();
    if (has_worked) {  // those who look then see what has been published
      slot_.waits.store(slot_.waits.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
    tickets_.give_back();
    if (starved_) {
      if (together_.tickets.all_used()) {
        together_.halt.stop(Why::budget);
      }
    } else if (made != 0 || patience_.waited_ns() >= unreported_ns) {
      together_.termination.idles(slot_, request, made);
    }
    if (made == 0) {
      note_wait();
      patience_.wait();
    } else {
      patience_.reset();
    }
  }

  /// Note in the profiler's program that this thread waits.
  void note_wait() {
    if constexpr (timed) {
      if (pulse_.records != nullptr) {
        pulse_.records->waits();
      }
    }
  }

  /// Where nothing else moves in the whole network, pass over the actor of a static order that cannot fire. `in_vain`:
  /// the pass has found that it cannot.
  void skip_if_asked(bool in_vain) {
    const Skip asked = slot_.skip.load(std::memory_order_acquire);
    if (asked == Skip::none || starved_) {
      return;  // without a firing to be had, the pass has found nothing out
    }
    slot_.skip.store(Skip::none, std::memory_order_relaxed);
    if (in_vain && chooser_->skip(*this, asked)) {
      slot_.may_skip = chooser_->may_skip();
      Termination::works(slot_);  // what the pass has found holds no longer
    }
  }

  /// Publish what has been moved. Where several threads share the actors, each visit has done so.
  void show_all() {
    unseen_ = 0;
    for (Channel* channel : team_.outgoing) {
      if (channel->written_reached != channel->written.load(std::memory_order_relaxed)) {
        channel->show_written();
      }
    }
    for (Channel* channel : team_.incoming) {
      if (channel->read_reached != channel->read.load(std::memory_order_relaxed)) {
        channel->show_read();
      }
    }
  }

  /// Before this thread waits: wake those that sleep and have not been told of what they wait for.
  void wake_peers() {
    for (Channel* channel : team_.outgoing) {
      if (channel->written_told != channel->written_reached && channel->reader_parking->has_sleepers()) {
        channel->written_told = channel->written_reached;
        channel->reader_parking->wake();
      }
    }
    for (Channel* channel : team_.incoming) {
      if (channel->read_told != channel->read_reached && channel->writer_parking->has_sleepers()) {
        channel->read_told = channel->read_reached;
        channel->writer_parking->wake();
      }
    }
  }

  /// An actor ended in the middle of a visit: who waits for it has not been woken.
  void wake_team() {
    if (!team_.shared()) {
      for (const Member& member : team_.members) {
        together_.instances.actors[member.index]->condition = Condition::ready;
      }
    }
  }

  Together& together_;
  Team& team_;
  Slot& slot_;
  Tickets tickets_;
  std::unique_ptr<Chooser> chooser_;
  Patience patience_;
  Moment first_work_;
  Moment last_work_;
  Pulse pulse_;
  bool moved_ = false;      // a token, in this pass
  bool may_go_on_ = false;  // the actor of the last visit
  std::int64_t firings_ = 0;
  std::int64_t unseen_ = 0;  // firings since all was published
  bool busy_ = true;
  bool starved_ = false;  // the bound of the firings is used up, or others hold what is left of it
};

}  // namespace dse
