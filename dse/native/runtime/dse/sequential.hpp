// Fair round robin over all actors on one thread: the schedule of dse/run/schedule.py, firing by firing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "dse/engine.hpp"
#include "dse/faults.hpp"
#include "dse/instances.hpp"
#include "dse/interrupts.hpp"
#include "dse/run_types.hpp"
#include "dse/visiting.hpp"

namespace dse {

/// Runs all actors of a network on the calling thread.
class Sequential {
 public:
  /// `records` may be null: nothing is noted.
  Sequential(Instances& instances, const RunOptions& options, Progress progress, ThreadRecords* records)
      : instances_(instances),
        limit_(options.max_firings.value_or(std::numeric_limits<std::int64_t>::max())),
        idle_firings_(options.idle_firings),
        progress_(std::move(progress)) {
    pulse_.records = records;
    for (const auto& actor : instances_.actors) {
      actor->pulse = &pulse_;
    }
    for (const auto& channel : instances_.channels) {
      looped_ = looped_ || channel->loud;
    }
  }

  /// Run the initializers, then fire until a reason to stop is found. Throws RunError, NoMemory, InputRefused, Interrupted.
  Why run() {
    try {
      for (std::size_t k = 0; k != count(); ++k) {
        total_ += visit(k, [](Actor& actor) {
          actor.start();
          actor.condition = Condition::ready;
        });
      }
      return rounds();
    } catch (const ProgramExit& stop) {
      exit_code_ = stop.exit_code;
      return stop.frames ? Why::frames : Why::exit;
    }
  }

  int exit_code() const { return exit_code_; }

  /// Return how many firings of each actor come after the last firing of all that moved a token; 0 where none did.
  std::vector<std::int64_t> idle_tail() {
    std::vector<std::int64_t> tail(count(), 0);
    if (move_ends_.empty()) {
      return tail;
    }
    std::vector<std::int64_t> kept = move_ends_;
    for (std::size_t k = count(); k-- != 0;) {
      kept[k] = instances_.actors[k]->log.end_of_moves(move_starts_[k]);
      if (kept[k] > move_starts_[k]) {
        break;
      }
    }
    for (std::size_t k = 0; k != count(); ++k) {
      tail[k] = instances_.actors[k]->log.made() - kept[k];
    }
    return tail;
  }

 private:
  static constexpr std::int64_t progress_firings = 1 << 16;

  std::size_t count() const { return instances_.actors.size(); }

  Why rounds() {
    std::vector<std::int64_t> start = made();
    if (pulse_.moved && has_moves(std::vector<std::int64_t>(count(), 0))) {  // by an initializer
      move_starts_ = move_ends_ = start;
    }
    std::int64_t idle = 0;
    while (true) {
      pulse_.moved = false;
      const std::int64_t before = total_;
      if (!round()) {
        return Why::budget;
      }
      if (total_ == before && nobody_ready()) {
        retry();
        if (total_ == before && nobody_ready()) {
          return Why::quiescent;
        }
      }
      idle = pulse_.moved ? 0 : idle + (total_ - before);
      if (pulse_.moved && (!looped_ || has_moves(start))) {
        move_starts_ = start;
        move_ends_ = made();
      }
      set_made(start);
      if (idle >= idle_firings_) {
        return Why::livelock;
      }
    }
  }

  /// Visit each ready actor once. Return false where the firings are spent.
  bool round() {
    for (std::size_t k = 0; k != count(); ++k) {
      if (instances_.actors[k]->condition != Condition::ready) {
        continue;
      }
      if (total_ >= limit_) {
        return false;
      }
      const std::int64_t budget = std::min(burst_firings, limit_ - total_);
      total_ += visit(k, [budget](Actor& actor) { actor.run(budget); });
      if (total_ >= next_report_) {
        report();
      }
    }
    return true;
  }

  /// Let the actors whose guards depend on natives try once more.
  void retry() {
    for (std::size_t k = 0; k != count(); ++k) {
      if (instances_.info(k).guards_call && !instances_.actors[k]->finished) {
        total_ += visit(k, [](Actor& actor) { actor.run(1); });
      }
    }
  }

  /// Let an actor work; return how many firings it made.
  template <class Work>
  std::int64_t visit(std::size_t index, Work&& work) {
    Actor& actor = *instances_.actors[index];
    if (actor.finished) {  // woken by a neighbour after it had ended
      actor.condition = Condition::waits;
      return 0;
    }
    check_interrupt(index);
    const Visited visited = visit_actor(instances_, index, work);
    if (visited.ended) {
      wake_all();
    }
    return visited.firings;
  }

  /// An actor ended in the middle of a visit: who waits for it has not been woken.
  void wake_all() {
    for (const auto& actor : instances_.actors) {
      if (!actor->finished) {
        actor->condition = Condition::ready;
      }
    }
  }

  void check_interrupt(std::size_t index) const {
    const int signal = interrupt_signal.load(std::memory_order_relaxed);
    if (signal != 0) {
      throw Interrupted("the run was in '" + std::string(instances_.info(index).name) + "'", signal);
    }
  }

  void report() {
    next_report_ = total_ + progress_firings;
    if (progress_) {
      progress_(total_);
    }
  }

  bool nobody_ready() const {
    return std::none_of(instances_.actors.begin(), instances_.actors.end(),
                        [](const auto& actor) { return actor->condition == Condition::ready; });
  }

  /// Return whether a firing after those counted in `start` moved a token.
  bool has_moves(const std::vector<std::int64_t>& start) {
    for (std::size_t k = 0; k != count(); ++k) {
      if (instances_.actors[k]->log.end_of_moves(start[k]) > start[k]) {
        return true;
      }
    }
    return false;
  }

  std::vector<std::int64_t> made() const {
    std::vector<std::int64_t> counts(count());
    set_made(counts);
    return counts;
  }

  void set_made(std::vector<std::int64_t>& counts) const {
    for (std::size_t k = 0; k != counts.size(); ++k) {
      counts[k] = instances_.actors[k]->log.made();
    }
  }

  Instances& instances_;
  const std::int64_t limit_;
  const std::int64_t idle_firings_;
  const Progress progress_;
  Pulse pulse_;
  bool looped_ = false;
  int exit_code_ = 0;
  std::int64_t total_ = 0;
  std::int64_t next_report_ = progress_firings;
  std::vector<std::int64_t> move_starts_;  // firings of each actor at the start of the last round with a moved token
  std::vector<std::int64_t> move_ends_;    // and at its end; empty where there was none
};

}  // namespace dse
