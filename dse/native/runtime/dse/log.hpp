// The action ids of one actor, in the order of its firings. What only the engine calls is in log_bodies.hpp.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "dse/tables.hpp"

namespace dse {

/// How an id is kept: in one byte, or in two where an actor has more than 256 actions. char8_t and not uint8_t, since a
/// store of the latter may alias everything, so that the compiler would read all state again after each firing.
using NarrowId = char8_t;
using WideId = std::uint16_t;

inline constexpr std::size_t most_narrow_actions = 256;

/// Takes the ids of all actors while a network runs, in pieces. Pieces of one actor come in order; those of different
/// actors may come from different threads at once.
class TraceSink {
 public:
  virtual ~TraceSink() = default;
  virtual void take(int actor, std::span<const NarrowId> ids) = 0;
  virtual void take(int actor, std::span<const WideId> ids) = 0;
};

/// Holds the latest ids of an actor; those before are counted and handed to the trace.
class Log {
 public:
  /// `room`: the largest budget of a visit, in firings.
  void open(int actor, std::span<const ActionInfo> actions, std::int64_t room, TraceSink* sink);

  /// The index of the actor.
  std::size_t actor() const { return static_cast<std::size_t>(actor_); }

  /// Firings of the actor so far.
  std::int64_t made() const { return drained_ + used_; }

  /// Make room for a visit. To be called before each.
  void make_room() {
    if (used_ >= kept_ids) {
      drain();
    }
  }

  /// Count the ids held here, and hand them on.
  void drain();

  /// Count firings of which nobody keeps the ids: how often each action fired.
  void add(std::span<const std::int64_t> counts);

  /// Return how often each action fired. The log must be drained.
  const std::vector<std::int64_t>& counts() const { return counts_; }

  /// Return the number after the last firing that moved a token, if that is one after the first `first`; else `first`.
  std::int64_t end_of_moves(std::int64_t first);

  /// The place of the next id; `Visit` writes there and says by `wrote` how far it came.
  template <class Id>
  Id* next() {
    if constexpr (std::is_same_v<Id, WideId>) {
      return wide_.data() + used_;
    } else {
      return narrow_.data() + used_;
    }
  }

  template <class Id>
  void wrote(const Id* end) {
    used_ = end - (next<Id>() - used_);
  }

 private:
  static constexpr std::int64_t kept_ids = 1 << 13;

  template <class Id>
  void drain_from(std::vector<Id>& ids);

  template <class Id>
  void find_moves(const std::vector<Id>& ids);

  int actor_ = 0;
  std::span<const ActionInfo> actions_;
  TraceSink* sink_ = nullptr;
  std::vector<NarrowId> narrow_;
  std::vector<WideId> wide_;
  std::int64_t used_ = 0;
  std::int64_t drained_ = 0;
  std::int64_t searched_ = 0;   // firings that `find_moves` has seen
  std::int64_t moves_end_ = 0;  // number after the last of these that moved a token
  std::vector<std::int64_t> counts_;
};

}  // namespace dse
