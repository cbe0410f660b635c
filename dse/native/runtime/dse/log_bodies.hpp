// The bodies of log.hpp. Exactly one file of a program includes this.
#pragma once

#include "dse/log.hpp"

namespace dse {

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
  for (const Id id : taken) {
    ++counts_[id];
  }
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
