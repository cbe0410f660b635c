// What the profiler's program notes while it runs: every visit, and single firings of chosen actions. All of this is
// compiled only with DSE_TIMED; the plain program has empty classes in its place.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "dse/counter.hpp"

#ifndef DSE_TIMED
#define DSE_TIMED 0
#endif

namespace dse {

/// Whether this is the profiler's program.
inline constexpr bool timed = DSE_TIMED != 0;

/// Why a visit ended.
enum class VisitEnd : std::uint8_t { budget_spent, lacks_tokens, lacks_room, other };

/// One call of an actor that made firings; times are those of the counter. As in the file of --raw.
struct VisitRecord {
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t firings;
  std::uint16_t actor;
  VisitEnd why;
  std::uint8_t reserved;
};
static_assert(sizeof(VisitRecord) == 24);

/// One firing of an action that is timed singly, in steps of the counter.
struct SingleRecord {
  std::uint64_t chosen;
  std::uint32_t firing;  // number in the trace of the actor, modulo 2^32
  std::uint16_t actor;
  std::uint16_t action;
  std::uint32_t choosing;
  std::uint32_t reading;
  std::uint32_t computing;
  std::uint32_t writing;
};
static_assert(sizeof(SingleRecord) == 32);

/// Calls of an actor that made no firing.
struct FruitlessRecord {
  std::uint32_t actor;
  std::uint32_t reserved;
  std::uint64_t visits;
  std::uint64_t steps;
  std::uint64_t least;
  std::uint64_t most;
};
static_assert(sizeof(FruitlessRecord) == 40);

/// A list that grows by chunks. Nothing is moved when it grows, and the first chunk is in memory from the start.
template <class Record>
class Chunks {
 public:
  Chunks() { grow(); }

  /// Make sure that the next record finds memory. Throws std::bad_alloc.
  void make_room() {
    if (used_ == chunk_records) {
      grow();
    }
  }

  void add(const Record& record) {
    make_room();
    chunks_.back()[used_++] = record;
  }

  std::size_t size() const { return (chunks_.size() - 1) * chunk_records + used_; }

  /// Call `act(first, count)` for each piece in order.
  template <class Act>
  void each_piece(Act&& act) const {
    for (std::size_t k = 0; k != chunks_.size(); ++k) {
      act(chunks_[k].get(), k + 1 == chunks_.size() ? used_ : chunk_records);
    }
  }

 private:
  static constexpr std::size_t chunk_records = (std::size_t{1} << 21) / sizeof(Record);

  void grow() {
    chunks_.push_back(std::make_unique<Record[]>(chunk_records));  // zeros are written: its pages are touched
    used_ = 0;
  }

  std::vector<std::unique_ptr<Record[]>> chunks_;
  std::size_t used_ = 0;
};

/// What one thread notes.
struct ThreadRecords {
  explicit ThreadRecords(std::size_t actors) : fruitless(actors) {
    for (std::size_t k = 0; k != actors; ++k) {
      fruitless[k] = {.actor = static_cast<std::uint32_t>(k),
                      .reserved = 0,
                      .visits = 0,
                      .steps = 0,
                      .least = std::numeric_limits<std::uint64_t>::max(),
                      .most = 0};
    }
  }

  /// Note the visit of an actor that began at `visit_start` and ends now.
  void end_visit(std::size_t actor, std::int64_t firings, VisitEnd why) {
    const std::uint64_t end = counter_now();
    if (firings != 0) {
      visits.add({.start = visit_start,
                  .end = end,
                  .firings = static_cast<std::uint32_t>(firings),
                  .actor = static_cast<std::uint16_t>(actor),
                  .why = why,
                  .reserved = 0});
      return;
    }
    FruitlessRecord& sum = fruitless[actor];
    const std::uint64_t steps = end - visit_start;
    ++sum.visits;
    sum.steps += steps;
    sum.least = std::min(sum.least, steps);
    sum.most = std::max(sum.most, steps);
  }

  std::uint64_t visit_start = 0;  // of the visit that goes on
  Chunks<VisitRecord> visits;
  Chunks<SingleRecord> singles;
  std::vector<FruitlessRecord> fruitless;  // by actor
};

/// Which actions of an actor are timed singly: a byte for each, or nothing where none is.
using Singled = std::vector<std::uint8_t>;

/// Times the firings of the marked actions within one visit. The plain program has none.
class FiringTimer {
 public:
  FiringTimer(ThreadRecords* records, const Singled& singled, std::size_t actor)
      : records_(records),
        marks_(records == nullptr || singled.empty() ? nullptr : singled.data()),
        actor_(static_cast<std::uint16_t>(actor)),
        behind_(marks_ == nullptr ? 0 : records->visit_start) {}

  void chose(int action) {
    if (marked(action)) {
      times_[0] = counter_now();
    }
  }
  void have_read(int action) {
    if (marked(action)) {
      times_[1] = counter_now();
    }
  }
  void computed(int action) {
    if (marked(action)) {
      times_[2] = counter_now();
    }
  }

  /// `firing`: the number of the firing in the trace of the actor.
  void fired(int action, std::int64_t firing) {
    if (!marked(action)) {
      behind_ = 0;
      return;
    }
    const std::uint64_t end = counter_now();
    records_->singles.add({.chosen = times_[0],
                           .firing = static_cast<std::uint32_t>(firing),
                           .actor = actor_,
                           .action = static_cast<std::uint16_t>(action),
                           .choosing = behind_ == 0 ? unknown : steps(behind_, times_[0]),
                           .reading = steps(times_[0], times_[1]),
                           .computing = steps(times_[1], times_[2]),
                           .writing = steps(times_[2], end)});
    behind_ = end;
  }

 private:
  static constexpr std::uint32_t unknown = 0xFFFFFFFF;

  bool marked(int action) const { return marks_ != nullptr && marks_[action] != 0; }

  static std::uint32_t steps(std::uint64_t from, std::uint64_t to) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(to - from, unknown - 1));
  }

  ThreadRecords* records_;
  const std::uint8_t* marks_;
  std::uint16_t actor_;
  std::uint64_t behind_;  // start of the visit, or end of the firing before; 0 where that was not timed
  std::uint64_t times_[3] = {};
};

/// Stands for `FiringTimer` in the plain program.
class NoTimer {
 public:
  NoTimer(ThreadRecords*, const Singled&, std::size_t) {}
  void chose(int) {}
  void have_read(int) {}
  void computed(int) {}
  void fired(int, std::int64_t) {}
};

}  // namespace dse
