// Which actor of a partition is visited next: the policies of the estimate (dse/estimate/semantics.py, "Policies").
//
// The estimate knows which actors are ready. A program learns it by a visit: an actor that is not ready makes no
// firing, and the search goes on; it is visited again when something has moved at its FIFOs. NON_PREEMPTIVE stays with
// an actor, so one visit may make many firings; the others choose anew after each firing. DATA_DEMAND_DRIVEN appends
// the readers that got tokens and, where an input has run empty, the writers, and finds out at their turn whether they
// are ready.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "dse/teams.hpp"
#include "dse/termination.hpp"

namespace dse {

/// What a policy may ask of its thread.
class Visitor {
 public:
  virtual ~Visitor() = default;

  /// Let the actor at a place fire at most `budget` times; return how often it did. Where another thread runs it, it
  /// is passed over.
  virtual std::int64_t visit(std::size_t place, std::int64_t budget) = 0;

  /// The same, but wait while another thread runs it.
  virtual std::int64_t visit_patiently(std::size_t place, std::int64_t budget) = 0;

  /// Return whether a token moved in the last visit.
  virtual bool moved() const = 0;

  /// Return whether the last visit ended with its budget, so that the actor may be able to go on.
  virtual bool may_go_on() const = 0;

  /// Return whether an actor that could not fire will not fire any more, whatever others do.
  virtual bool has_ended(std::size_t place) const = 0;
};

/// A policy at work. A pass that makes no firing has tried every actor that the policy may choose now.
class Chooser {
 public:
  explicit Chooser(Team& team) : team_(team) {}
  Chooser(const Chooser&) = delete;
  Chooser& operator=(const Chooser&) = delete;
  virtual ~Chooser() = default;

  virtual void pass(Visitor& visitor) = 0;

  /// Return whether the policy waits for the turn of an actor that it might pass over.
  virtual bool may_skip() const { return false; }

  /// Pass over that actor for good, since it cannot fire and nothing else moves in the network; return whether that
  /// was done.
  virtual bool skip(Visitor& visitor, Skip which) {
    static_cast<void>(visitor);
    static_cast<void>(which);
    return false;
  }

  /// Return the places that were passed over.
  virtual std::vector<std::size_t> passed_over() const { return {}; }

 protected:
  std::size_t count() const { return team_.members.size(); }

  Team& team_;
};

/// Stay with an actor while it fires; return whether it did. One that moves no token for a whole burst is left, as it
/// might never end.
inline bool stay_with(Visitor& visitor, std::size_t place, std::int64_t longest_visit) {
  std::int64_t made = 0;
  std::int64_t idle = 0;
  do {
    const std::int64_t fired = visitor.visit(place, longest_visit);
    if (fired == 0) {
      break;
    }
    made += fired;
    idle = visitor.moved() ? 0 : idle + fired;
  } while (idle < burst_firings && visitor.may_go_on());
  return made != 0;
}

/// Actors in turn. After a pass in vain the next one begins at the actor that was at work last, as the search of the
/// estimate does: else it would be chance who comes first of several actors that got tokens while the thread waited.
class NonPreemptive final : public Chooser {
 public:
  using Chooser::Chooser;
  void pass(Visitor& visitor) override {
    const std::size_t first = first_;
    const bool behind = search(visitor, first, count());
    const bool before = search(visitor, 0, first);
    if (!behind && !before) {
      first_ = last_;
    }
  }

 private:
  /// Return whether an actor in these places fired.
  bool search(Visitor& visitor, std::size_t begin, std::size_t end) {
    bool fired = false;
    for (std::size_t k = begin; k != end; ++k) {
      if (stay_with(visitor, k, team_.members[k].longest_visit)) {
        last_ = k;
        fired = true;
      }
    }
    return fired;
  }

  std::size_t first_ = 0;  // where a pass begins
  std::size_t last_ = 0;   // who fired last
};

class RoundRobin final : public Chooser {
 public:
  using Chooser::Chooser;
  void pass(Visitor& visitor) override {
    for (std::size_t k = 0; k != count(); ++k) {
      visitor.visit(k, 1);
    }
  }
};

/// Places in order, none twice.
class Queue {
 public:
  explicit Queue(std::size_t places) : queued_(places, false) {}

  void append(const std::vector<std::size_t>& places) {
    for (const std::size_t place : places) {
      if (!queued_[place]) {
        queued_[place] = true;
        places_.push_back(place);
      }
    }
  }

  bool empty() const { return places_.empty(); }

  std::size_t take() {
    const std::size_t place = places_.front();
    places_.pop_front();
    queued_[place] = false;
    return place;
  }

 private:
  std::deque<std::size_t> places_;
  std::vector<bool> queued_;
};

class DataDemandDriven final : public Chooser {
 public:
  explicit DataDemandDriven(Team& team) : Chooser(team), queue_(team.members.size()) {}
  void pass(Visitor& visitor) override {
    std::size_t failed = 0;  // places in a row that the round robin tried in vain
    for (std::size_t made = 0; failed != count() && made <= count();) {
      const bool queued = !queue_.empty();
      const std::size_t place = queued ? queue_.take() : (last_ + 1 + failed) % count();
      if (visitor.visit(place, 1) != 0) {
        ++made;
        failed = 0;
        last_ = place;
        append_neighbours(place);
      } else if (!queued) {
        ++failed;
      }
    }
  }

 private:
  void append_neighbours(std::size_t place) {
    const Member& member = team_.members[place];
    queue_.append(member.readers);
    for (const Channel* input : member.inputs) {
      if (input->read_reached == input->written.load(std::memory_order_relaxed)) {
        queue_.append(member.writers);
        return;
      }
    }
  }

  Queue queue_;
  std::size_t last_ = team_.members.size() - 1;
};

/// The cyclic list of a static order. The estimate passes over actors that have no firings left. A program cannot know
/// that; it passes over an actor when nothing else moves in the whole network, which the engine finds out.
/// Where several partitions wait, one at a time passes one over: see `Termination`.
class StaticOrder final : public Chooser {
 public:
  explicit StaticOrder(Team& team) : Chooser(team), passed_over_(team.members.size(), false) {}
  void pass(Visitor& visitor) override {
    for (std::size_t made = 0; may_skip() && made <= team_.order.size(); ++made) {
      seek();
      if (visitor.visit(team_.order[next_], 1) == 0) {
        return;
      }
      next_ = (next_ + 1) % team_.order.size();
    }
  }

  bool may_skip() const override { return left_ != 0; }

  bool skip(Visitor& visitor, Skip which) override {
    if (!may_skip()) {
      return false;
    }
    seek();
    if (which == Skip::ended) {
      const bool ended = visitor.has_ended(team_.order[next_]);
      pass_over(ended ? 1 : 0);
      return ended;
    }
    for (std::size_t ahead = 1; ahead != team_.order.size(); ++ahead) {
      const std::size_t place = at(ahead);
      if (!passed_over_[place] && visitor.visit(place, 1) != 0) {
        pass_over(ahead);
        next_ = (next_ + 1) % team_.order.size();
        return true;
      }
    }
    return false;
  }

  std::vector<std::size_t> passed_over() const override {
    std::vector<std::size_t> places;
    for (std::size_t k = 0; k != passed_over_.size(); ++k) {
      if (passed_over_[k]) {
        places.push_back(k);
      }
    }
    return places;
  }

 private:
  /// Return the place of an entry of the list so far ahead.
  std::size_t at(std::size_t ahead) const { return team_.order[(next_ + ahead) % team_.order.size()]; }

  /// Go so many entries ahead, and never come back to the actors there.
  void pass_over(std::size_t entries) {
    for (; entries != 0; --entries) {
      if (!passed_over_[at(0)]) {
        passed_over_[at(0)] = true;
        --left_;
      }
      next_ = (next_ + 1) % team_.order.size();
    }
  }

  /// Go to the next entry that is not passed over. There must be one.
  void seek() {
    while (passed_over_[team_.order[next_]]) {
      next_ = (next_ + 1) % team_.order.size();
    }
  }

  std::vector<bool> passed_over_;  // by place
  std::size_t left_ = passed_over_.size();
  std::size_t next_ = 0;
};

/// Several threads search one partition; each goes on behind the place that was chosen last by any of them, under
/// DATA_DEMAND_DRIVEN too: there is no common queue. What they find in vain, each looks at once more by itself, so that
/// its pass has seen every actor.
class SharedSearch final : public Chooser {
 public:
  using Chooser::Chooser;
  void pass(Visitor& visitor) override {
    bool fired = false;
    for (std::size_t k = 0; k != count(); ++k) {
      const std::size_t place = team_.next_place.fetch_add(1, std::memory_order_relaxed) % count();
      fired = search(visitor, place) || fired;
    }
    for (std::size_t k = 0; k != count() && !fired; ++k) {
      fired = visitor.visit_patiently(k, 1) != 0;
    }
  }

 private:
  bool search(Visitor& visitor, std::size_t place) {
    return team_.policy == Policy::non_preemptive ? stay_with(visitor, place, team_.members[place].longest_visit)
                                                  : visitor.visit(place, 1) != 0;
  }
};

inline std::unique_ptr<Chooser> make_chooser(Team& team) {
  if (team.shared()) {
    return std::make_unique<SharedSearch>(team);
  }
  switch (team.policy) {
    case Policy::round_robin:
      return std::make_unique<RoundRobin>(team);
    case Policy::data_demand_driven:
      return std::make_unique<DataDemandDriven>(team);
    case Policy::static_order:
      return std::make_unique<StaticOrder>(team);
    default:
      return std::make_unique<NonPreemptive>(team);
  }
}

}  // namespace dse
