// The bodies of log.hpp. Exactly one file of a program includes this.
#pragma once

#include <array>
#include <cstring>

#include "dse/log.hpp"

namespace dse {

/// Counts ids. An actor often fires one action many times in a row, and a counter in memory that goes up each time waits
/// for itself: rows of one id are counted at once, and others by four sets of counters in turn.
class IdCounts {
 public:
  void add(std::span<const NarrowId> ids) {
    std::size_t k = 0;
    for (; k + row <= ids.size(); k += row) {
      const NarrowId* first = ids.data() + k;
      if (all_are_first(first)) {
        counts_[0][*first] += row;
      } else {
        add_row(first);
      }
    }
    for (; k != ids.size(); ++k) {
      ++counts_[0][ids[k]];
    }
  }

  void give(std::vector<std::int64_t>& counts) const {
    for (std::size_t id = 0; id != counts.size(); ++id) {
      for (const auto& lane : counts_) {
        counts[id] += lane[id];
      }
    }
  }

 private:
  static constexpr std::size_t row = 16;
  static constexpr std::size_t lanes = 4;

  static bool all_are_first(const NarrowId* first) {
    std::uint64_t halves[row / sizeof(std::uint64_t)];
    std::memcpy(halves, first, row);
    const std::uint64_t same = std::uint64_t{0x0101010101010101} * *first;
    return ((halves[0] ^ same) | (halves[1] ^ same)) == 0;
  }

  void add_row(const NarrowId* first) {
    for (std::size_t k = 0; k != row; k += lanes) {
      for (std::size_t lane = 0; lane != lanes; ++lane) {
        ++counts_[lane][first[k + lane]];
      }
    }
  }

  std::array<std::array<std::uint32_t, most_narrow_actions>, lanes> counts_{};
};

inline void count_ids(std::span<const NarrowId> ids, std::vector<std::int64_t>& counts) {
  IdCounts found;
  found.add(ids);
  found.give(counts);
}

inline void count_ids(std::span<const WideId> ids, std::vector<std::int64_t>& counts) {
  for (const WideId id : ids) {
    ++counts[id];
  }
}

void Log::open(int actor, std::span<const ActionInfo> actions, std::int64_t room, TraceSink* sink) {
  actor_ = actor;
  actions_ = actions;
  sink_ = sink;
  counts_.assign(actions.size(), 0);
  const auto capacity = static_cast<std::size_t>(room + kept_ids);
  if (actions.size() <= most_narrow_actions) {
    narrow_.resize(capacity);
  } else {
    wide_.resize(capacity);
  }
}

void Log::drain() {
  if (!wide_.empty()) {
    drain_from(wide_);
  } else {
    drain_from(narrow_);
  }
}

void Log::add(std::span<const std::int64_t> counts) {
  drain();
  for (std::size_t k = 0; k != counts.size(); ++k) {
    counts_[k] += counts[k];
    drained_ += counts[k];
  }
  searched_ = drained_;
}

std::int64_t Log::end_of_moves(std::int64_t first) {
  if (!wide_.empty()) {
    find_moves(wide_);
  } else {
    find_moves(narrow_);
  }
  return moves_end_ > first ? moves_end_ : first;
}

template <class Id>
void Log::drain_from(std::vector<Id>& ids) {
  find_moves(ids);
  const std::span<const Id> taken(ids.data(), static_cast<std::size_t>(used_));
  count_ids(taken, counts_);
  if (sink_ != nullptr && !taken.empty()) {
    sink_->take(actor_, taken);
  }
  drained_ += used_;
  used_ = 0;
  searched_ = drained_;
}

template <class Id>
void Log::find_moves(const std::vector<Id>& ids) {
  for (std::int64_t k = made(); k > searched_; --k) {
    if (actions_[ids[static_cast<std::size_t>(k - 1 - drained_)]].moves) {
      moves_end_ = k;
      break;
    }
  }
  searched_ = made();
}

}  // namespace dse
