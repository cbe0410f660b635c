// What the profiler's program notes while it runs: every visit, and single firings of chosen actions. The plain program
// notes nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "dse/counter.hpp"
#include "dse/timing.hpp"

namespace dse {

/// Why a visit ended.
enum class VisitEnd : std::uint8_t { budget_spent, lacks_tokens, lacks_room, other };

/// What lies between a visit and the one before it on the same thread, in the byte `between`: the number of visits in vain,
/// and whether the time is not to be counted, since the thread waited or these notes grew. Of a thread that waits these
/// are the visits in vain since then.
inline constexpr std::uint8_t most_vain = 0x7F;
inline constexpr std::uint8_t apart = 0x80;

/// What the byte `ending` says: why the visit ended; from bit `ending_before` on why the visit of the same actor before it
/// did; and whether the record before it is of the visit before it on that thread, as always where all visits are timed.
inline constexpr int ending_before = 2;
inline constexpr std::uint8_t follows = 0x10;

/// One call of an actor that made firings; times are those of the counter. As in the file of --raw.
struct VisitRecord {
  std::uint64_t start;
  std::uint64_t end;
  std::uint32_t firings;
  std::uint16_t actor;
  std::uint8_t ending;
  std::uint8_t between;
  std::uint64_t first;  // the number of its first firing in the trace of the actor
};
static_assert(sizeof(VisitRecord) == 32);

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

  /// Make sure that the next record finds memory; return whether that took time. Throws std::bad_alloc.
  bool make_room() {
    const bool full = used_ == chunk_records;
    if (full) {
      grow();
    }
    return full;
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
  static constexpr std::size_t chunk_bytes = std::size_t{1} << 21;
  static constexpr std::size_t chunk_records = chunk_bytes / sizeof(Record);

  struct Free {
    void operator()(Record* records) const { std::free(records); }
  };
  using Chunk = std::unique_ptr<Record[], Free>;

  /// A chunk is one large page where the system has such: all threads may wait for one that touches 512 small ones.
  void grow() {
    Chunk chunk(static_cast<Record*>(std::aligned_alloc(chunk_bytes, chunk_bytes)));
    if (chunk == nullptr) {
      throw std::bad_alloc();
    }
#if defined(__linux__)
    static_cast<void>(::madvise(chunk.get(), chunk_bytes, MADV_HUGEPAGE));
#endif
    std::memset(static_cast<void*>(chunk.get()), 0, chunk_bytes);
    chunks_.push_back(std::move(chunk));
    used_ = 0;
  }

  std::vector<Chunk> chunks_;
  std::size_t used_ = 0;
};

/// Which visits of a thread are timed: all, or two in a row now and then at random, one of `every` in the mean.
class Turns {
 public:
  Turns(std::uint64_t every, std::uint64_t seed) : every_(every), state_(0x9E3779B97F4A7C15U * (seed + 1)) { rest(); }

  bool all() const { return every_ == 1; }

  /// Whether the visit that goes on, or else the next one, is timed.
  bool timed() const { return untimed_ == 0; }

  /// A visit that is not timed has ended; return whether the next one is.
  bool pass() { return --untimed_ == 0; }

  /// A visit that is timed has ended.
  void taken() {
    if (!all() && --row_ == 0) {
      rest();
    }
  }

 private:
  void rest() {
    row_ = 2;
    if (!all()) {
      state_ ^= state_ << 13;
      state_ ^= state_ >> 7;
      state_ ^= state_ << 17;
      untimed_ = 1 + state_ % (4 * every_ - 5);  // 2 (every - 1) in the mean
    }
  }

  const std::uint64_t every_;
  std::uint64_t state_;
  std::uint64_t untimed_ = 0;
  int row_ = 0;
};

/// The firing that is timed singly and goes on, of one thread.
struct SingleTiming {
  const Singled* singled = nullptr;  // of the actor that is visited
  std::uint64_t behind = 0;          // start of the visit, or end of the last firing that was timed
  std::int64_t next = 0;             // the number of the firing that began then
  std::uint64_t times[3] = {};       // ends of the phases
};

/// What one thread notes.
struct ThreadRecords {
  /// `times_vain`: visits in vain are timed, and not only counted. Of threads that wait for each other they are not: who
  /// takes longer to look around is later at work, and so are all that wait for it. `turns`: which visits are noted.
  ThreadRecords(std::size_t actors, bool times_vain, Turns turns)
      : fruitless(actors),
        turns_(turns),
        before_(actors, VisitEnd::lacks_tokens),
        times_vain_(times_vain && turns.all()) {
    for (std::size_t k = 0; k != actors; ++k) {
      fruitless[k] = {.actor = static_cast<std::uint32_t>(k),
                      .reserved = 0,
                      .visits = 0,
                      .steps = 0,
                      .least = std::numeric_limits<std::uint64_t>::max(),
                      .most = 0};
    }
  }

  /// Note that a visit begins. Throws std::bad_alloc; the end of a visit does not.
  void begin_visit() {
    if (!turns_.timed()) {
      return;
    }
    if (visits.make_room()) {
      between |= apart;
    }
    visit_start = counter_now();
  }

  /// Note that the thread found nothing to do: the time before its next visit is not that of a scheduler at work.
  void waits() {
    if (!waiting) {
      waiting = true;
      between = apart;
    }
  }

  /// Note that an actor with FIFOs to other threads is passed over, as nothing has come there: a visit in vain, with the
  /// reading that each of them has.
  void passes() {
    begin_visit();
    count_vain();
  }

  /// Note the visit of an actor that began at `visit_start` and ends now; `made`: its firings before.
  void end_visit(std::size_t actor, std::int64_t made, std::int64_t firings, VisitEnd why) {
    if (firings == 0 && !times_vain_) {
      count_vain();
      return;
    }
    if (!turns_.timed()) {
      pass_over(actor, why);
      return;
    }
    const std::uint64_t end = counter_now();
    if (firings != 0) {
      add_visit(actor, made, firings, why, end);
      return;
    }
    count_vain();
    FruitlessRecord& sum = fruitless[actor];
    const std::uint64_t steps = end - visit_start;
    ++sum.visits;
    sum.steps += steps;
    sum.least = std::min(sum.least, steps);
    sum.most = std::max(sum.most, steps);
  }

  /// Note that an actor with actions that are timed singly is visited; `made`: its firings before.
  void begin_singles(const Singled& singled, std::int64_t made) {
    single.singled = &singled;
    single.behind = visit_start;
    single.next = made;
  }

  [[gnu::noinline]] void end_phase(int phase) { single.times[phase] = counter_now(); }

  /// Note the firing of an action, if it is one that is timed. `firing`: its number in the trace of the actor.
  [[gnu::noinline]] void end_single(std::size_t actor, int action, std::int64_t firing) {
    if ((*single.singled)[static_cast<std::size_t>(action)] == 0) {
      return;
    }
    const std::uint64_t end = counter_now();
    const std::uint64_t(&times)[3] = single.times;
    singles.add({.chosen = times[0],
                 .firing = static_cast<std::uint32_t>(firing),
                 .actor = static_cast<std::uint16_t>(actor),
                 .action = static_cast<std::uint16_t>(action),
                 .choosing = firing == single.next ? steps(single.behind, times[0]) : unknown,
                 .reading = steps(times[0], times[1]),
                 .computing = steps(times[1], times[2]),
                 .writing = steps(times[2], end)});
    single.behind = end;
    single.next = firing + 1;
  }

  static constexpr std::uint32_t unknown = 0xFFFFFFFF;

  static std::uint32_t steps(std::uint64_t from, std::uint64_t to) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(to - from, unknown - 1));
  }

  std::uint64_t visit_start = 0;  // of the visit that goes on
  SingleTiming single;
  std::uint8_t between = apart;   // since the last visit that is noted
  bool waiting = false;           // since then the thread has found nothing to do
  Chunks<VisitRecord> visits;
  Chunks<SingleRecord> singles;
  std::vector<FruitlessRecord> fruitless;  // by actor

 private:
  void add_visit(std::size_t actor, std::int64_t made, std::int64_t firings, VisitEnd why, std::uint64_t end) {
    const int before = static_cast<int>(before_[actor]) << ending_before;
    visits.add({.start = visit_start,
                .end = end,
                .firings = static_cast<std::uint32_t>(firings),
                .actor = static_cast<std::uint16_t>(actor),
                .ending = static_cast<std::uint8_t>(static_cast<int>(why) | before | follows_),
                .between = between,
                .first = static_cast<std::uint64_t>(made)});
    between = 0;
    waiting = false;
    follows_ = follows;
    before_[actor] = why;
    turns_.taken();
  }

  void pass_over(std::size_t actor, VisitEnd why) {
    before_[actor] = why;
    if (turns_.pass()) {
      between = apart;
      waiting = false;
      follows_ = 0;
    }
  }

  void count_vain() {
    if ((between & most_vain) != most_vain) {
      ++between;
    }
  }

  Turns turns_;
  std::uint8_t follows_ = 0;
  std::vector<VisitEnd> before_;  // by actor
  const bool times_vain_;
};

/// Times the firings of the marked actions within one visit. The plain program has none. Visits with other firings are to
/// take as long as in the plain program: these pay for one test in each phase, all else is kept out of their code.
class FiringTimer {
 public:
  /// `made`: firings of the actor before the visit.
  FiringTimer(ThreadRecords* records, const Singled& singled, std::int64_t made) : records_(records) {
    if (records != nullptr && !singled.empty()) {
      for (std::size_t k = 0; k != singled.size(); ++k) {
        maybe_ |= static_cast<std::uint64_t>(singled[k] != 0) << (k % 64);
      }
      records->begin_singles(singled, made);
    }
  }

  /// Whether the firings of an action may be timed.
  bool times(int action) const { return (maybe_ >> (action % 64) & 1) != 0; }

  /// A firing has come to the end of a phase: 0 chosen, 1 read, 2 computed.
  void reached(int phase) { records_->end_phase(phase); }

  /// `firing`: the number of the firing in the trace of the actor.
  void fired(std::size_t actor, int action, std::int64_t firing) { records_->end_single(actor, action, firing); }

 private:
  ThreadRecords* records_;
  std::uint64_t maybe_ = 0;  // bit k: of the actions k, k + 64 and so on, one is timed
};

}  // namespace dse
