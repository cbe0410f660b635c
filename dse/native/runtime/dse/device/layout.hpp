// Which group of a kernel runs which actors, and how the ends of FIFOs on a GPU look at each other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "dse/device/plan.hpp"
#include "dse/instances.hpp"
#include "dse/run_types.hpp"

namespace dse::device {

/// Actors, as indices into the network's table, that one group runs.
struct GroupMembers {
  std::vector<std::size_t> actors;
  Turn turn = Turn::stay;
};

/// Return the groups of a mapping: one for each actor of a partition under FULL_PARALLEL, else one for a partition.
inline std::vector<GroupMembers> groups_of(const Mapping& mapping) {
  std::vector<GroupMembers> groups;
  for (const Partition& partition : mapping.partitions) {
    if (!partition.on_gpu) {
      continue;
    }
    const bool apart = partition.policy == Policy::full_parallel;
    for (const int actor : partition.actors) {
      if (apart || actor == partition.actors.front()) {
        groups.emplace_back().turn = partition.policy == Policy::round_robin ? Turn::one : Turn::stay;
      }
      groups.back().actors.push_back(static_cast<std::size_t>(actor));
    }
  }
  return groups;
}

inline constexpr std::int64_t always_refill = std::numeric_limits<std::int64_t>::max();
inline constexpr std::int64_t unpublished_firings = 64;  // between two publications, at most

/// How the ends of one connection look at each other: as `TeamBuilder` has it for threads.
struct EndRules {
  std::int64_t reader_refill = always_refill;
  std::int64_t writer_refill = always_refill;
  std::int64_t shown_every = unpublished_firings;
};

/// Makes the rules of all connections that touch a GPU.
class Layout {
 public:
  /// `eager`: by actor, whether it is to see all tokens and all room that there is, to fire often at once.
  Layout(const Instances& instances, const std::vector<GroupMembers>& groups, std::vector<bool> eager)
      : instances_(instances),
        eager_(std::move(eager)),
        group_of_(instances.actors.size(), nowhere),
        needs_steady_(instances.actors.size()) {
    for (std::size_t k = 0; k != groups.size(); ++k) {
      for (const std::size_t actor : groups[k].actors) {
        group_of_[actor] = static_cast<int>(k);
      }
    }
    find_steady();
    for (std::size_t k = 0; k != instances.channels.size(); ++k) {
      rules_.push_back(rules(k));
    }
    relax_siblings();
  }

  const EndRules& of(std::size_t connection) const { return rules_[connection]; }
  bool needs_steady(std::size_t actor) const { return needs_steady_[actor]; }

  /// Return the firings of an actor between two publications.
  std::int64_t shown_every(std::size_t actor) const {
    std::int64_t least = unpublished_firings;
    for (std::size_t k = 0; k != rules_.size(); ++k) {
      const ConnectionInfo& info = instances_.network.connections[k];
      if (info.source == static_cast<int>(actor) || info.target == static_cast<int>(actor)) {
        least = std::min(least, rules_[k].shown_every);
      }
    }
    return least;
  }

 private:
  static constexpr int nowhere = -1;  // a thread runs it

  int group(int actor) const { return group_of_[static_cast<std::size_t>(actor)]; }

  bool apart(const ConnectionInfo& info) const {
    return info.source != info.target && (group(info.source) != group(info.target) || group(info.source) == nowhere);
  }

  void find_steady() {
    std::vector<int> crossing(instances_.actors.size(), 0);
    for (const ConnectionInfo& info : instances_.network.connections) {
      crossing[static_cast<std::size_t>(info.target)] += apart(info) ? 1 : 0;
    }
    for (std::size_t k = 0; k != crossing.size(); ++k) {
      needs_steady_[k] = crossing[k] > 1;
    }
  }

  EndRules rules(std::size_t connection) const {
    const ConnectionInfo& info = instances_.network.connections[connection];
    EndRules found;
    if (info.source == info.target) {
      return found;
    }
    const std::int64_t capacity = instances_.channels[connection]->capacity;
    const std::int64_t least = std::max<std::int64_t>(info.least_tokens, 1);
    found.writer_refill = std::max(least, std::min(unpublished_firings, capacity / 4));
    // A level that was not asked for again is of an earlier moment, and an actor with several inputs is to see one.
    const bool asks = needs_steady_[static_cast<std::size_t>(info.target)] || eager_[static_cast<std::size_t>(info.target)];
    found.reader_refill = asks ? always_refill : found.writer_refill;
    if (eager_[static_cast<std::size_t>(info.source)]) {
      found.writer_refill = always_refill;
    }
    found.shown_every = std::clamp<std::int64_t>(capacity / (4 * least), 1, unpublished_firings);
    return found;
  }

  /// An output asks all its readers or none: it does so for the most demanding of them.
  void relax_siblings() {
    const auto connections = instances_.network.connections;
    for (std::size_t k = 0; k != rules_.size(); ++k) {
      for (std::size_t other = 0; other != rules_.size(); ++other) {
        if (connections[k].source == connections[other].source &&
            connections[k].source_port == connections[other].source_port) {
          rules_[k].writer_refill = std::max(rules_[k].writer_refill, rules_[other].writer_refill);
        }
      }
    }
  }

  const Instances& instances_;
  const std::vector<bool> eager_;
  std::vector<int> group_of_;
  std::vector<bool> needs_steady_;
  std::vector<EndRules> rules_;
};

}  // namespace dse::device
