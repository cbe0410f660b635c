// The partitions of a mapping, as the threads see them: who runs which actors, and which FIFOs cross.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "dse/halt.hpp"
#include "dse/instances.hpp"
#include "dse/parking.hpp"
#include "dse/run_types.hpp"

namespace dse {

/// Firings between two publications to other threads, at most.
inline constexpr std::int64_t visit_firings = 64;

/// Tokens that are published at once where each firing is a visit of its own.
inline constexpr std::int64_t block_tokens = 16;

/// An actor in its partition.
struct Member {
  std::size_t index = 0;              // in the network's table
  bool polled = false;                // it may become ready without a member of the partition having waked it
  bool listens = false;               // that shows at its FIFOs to other threads
  std::int64_t longest_visit = 1;     // firings, where the policy stays with an actor
  std::int64_t shown_every = visit_firings;  // firings, after which a visit publishes what has moved
  std::vector<std::size_t> readers;   // places of those it writes to in this partition, in the order of the FIFOs
  std::vector<std::size_t> writers;   // and of those it reads from
  std::vector<Channel*> inputs;       // all
  std::atomic<bool> taken{false};     // a thread runs it; used where the partition has several threads
};

/// A partition and its threads. A partition under FULL_PARALLEL becomes a team for each actor.
struct Team {
  explicit Team(const Partition& source, int number)
      : name(source.name),
        partition(number),
        on_gpu(source.on_gpu),
        policy(source.policy),
        threads(static_cast<std::size_t>(source.cores)) {}

  bool shared() const { return threads > 1; }

  const std::string name;
  const int partition;
  const bool on_gpu;  // no thread runs it
  Policy policy;
  std::size_t threads;
  std::deque<Member> members;        // by place
  std::vector<std::size_t> order;    // of a static order: places
  std::vector<Channel*> outgoing;    // crossing, written by this team
  std::vector<Channel*> incoming;    // crossing, read by this team
  std::set<const Team*> peers;       // at the other ends of crossing FIFOs
  Parking parking;
  alignas(cache_line_bytes) std::atomic<std::size_t> next_place{0};  // where several threads search
};

/// Makes the teams of a mapping and tells the FIFOs which of them cross.
class TeamBuilder {
 public:
  TeamBuilder(Instances& instances, const Mapping& mapping)
      : instances_(instances), team_of_(instances.actors.size()), place_of_(instances.actors.size()) {
    for (std::size_t k = 0; k != mapping.partitions.size(); ++k) {
      add(mapping.partitions[k], static_cast<int>(k));
    }
    connect();
    for (const auto& team : teams_) {
      finish(*team);
    }
  }

  std::vector<std::unique_ptr<Team>> take() { return std::move(teams_); }

 private:
  void add(const Partition& partition, int number) {
    if (partition.on_gpu) {
      Team& team = make_team(partition, number);
      for (const int actor : partition.actors) {
        join(team, actor);
      }
      team.threads = 0;
      return;
    }
    if (partition.policy == Policy::full_parallel) {
      for (const int actor : partition.actors) {
        Team& team = make_team(partition, number);
        team.policy = Policy::non_preemptive;
        team.threads = 1;
        join(team, actor);
      }
      return;
    }
    Team& team = make_team(partition, number);
    for (const int actor : partition.actors) {
      join(team, actor);
    }
    team.threads = std::min(team.threads, std::max<std::size_t>(team.members.size(), 1));
    if (team.members.size() == 1) {
      team.policy = Policy::non_preemptive;  // all policies choose the same, and it makes the longest visits
    }
    for (const int actor : partition.order) {
      team.order.push_back(place_of_[static_cast<std::size_t>(actor)]);
    }
  }

  Team& make_team(const Partition& partition, int number) {
    teams_.push_back(std::make_unique<Team>(partition, number));
    return *teams_.back();
  }

  void join(Team& team, int actor) {
    const auto index = static_cast<std::size_t>(actor);
    team_of_[index] = &team;
    place_of_[index] = team.members.size();
    team.members.emplace_back().index = index;
  }

  Member& member(int actor) {
    const auto index = static_cast<std::size_t>(actor);
    return team_of_[index]->members[place_of_[index]];
  }

  void connect() {
    for (std::size_t k = 0; k != instances_.channels.size(); ++k) {
      const ConnectionInfo& info = instances_.network.connections[k];
      Channel& channel = *instances_.channels[k];
      Team& source = *team_of_[static_cast<std::size_t>(info.source)];
      Team& target = *team_of_[static_cast<std::size_t>(info.target)];
      channel.loud = false;
      channel.crossing = info.source != info.target && (&source != &target || source.shared());
      member(info.target).inputs.push_back(&channel);
      if (&source == &target) {
        member(info.source).readers.push_back(place_of_[static_cast<std::size_t>(info.target)]);
        member(info.target).writers.push_back(place_of_[static_cast<std::size_t>(info.source)]);
      }
      if (channel.crossing) {
        cross(channel, info, source, target);
      }
    }
    for (std::size_t k = 0; k != instances_.channels.size(); ++k) {
      relax_siblings(k);
    }
  }

  /// Set how the ends of a FIFO between two threads publish, look and wake.
  void cross(Channel& channel, const ConnectionInfo& info, Team& source, Team& target) {
    const std::int64_t plenty = std::max(info.least_tokens, std::min(visit_firings, channel.capacity / 4));
    const std::int64_t block = std::clamp<std::int64_t>(channel.capacity / 4, 1, block_tokens);
    channel.reader_refill = plenty;
    channel.writer_refill = plenty;
    channel.write_block = publishes_each_visit(source) ? 1 : block;
    channel.read_block = publishes_each_visit(target) ? 1 : block;
    source.peers.insert(&target);
    target.peers.insert(&source);
    channel.reader_parking = &target.parking;
    channel.writer_parking = &source.parking;
    if (!source.shared()) {
      channel.reader_wakes_at = channel.capacity / 2;
      source.outgoing.push_back(&channel);
    }
    if (!target.shared()) {
      channel.writer_wakes_at = channel.capacity / 2;
      target.incoming.push_back(&channel);
    }
    // The other end is to begin, or to go on, while this one is at work: with visits that fill a FIFO, or empty it, before
    // they say so, two threads take turns.
    const std::int64_t quarter = channel.capacity / (4 * std::max<std::int64_t>(info.least_tokens, 1));
    for (Member* end : {&member(info.source), &member(info.target)}) {
      end->polled = true;
      end->shown_every = std::min(end->shown_every, std::max<std::int64_t>(quarter, 1));
    }
  }

  /// An output asks all its readers or none: it does so for the most demanding of them.
  void relax_siblings(std::size_t connection) {
    const ConnectionInfo& info = instances_.network.connections[connection];
    std::int64_t& refill = instances_.channels[connection]->writer_refill;
    for (std::size_t k = 0; k != instances_.channels.size(); ++k) {
      const ConnectionInfo& other = instances_.network.connections[k];
      if (other.source == info.source && other.source_port == info.source_port) {
        refill = std::max(refill, instances_.channels[k]->writer_refill);
      }
    }
  }

  /// Where several threads run an actor in turn, or a policy stays with it, each visit publishes.
  static bool publishes_each_visit(const Team& team) { return team.shared() || team.policy == Policy::non_preemptive; }

  void finish(Team& team) {
    for (Member& one : team.members) {
      Actor& actor = *instances_.actors[one.index];
      const bool crosses = one.polled;
      one.polled = team.shared() || instances_.info(one.index).guards_call;
      one.listens = crosses;
      one.longest_visit = crosses ? visit_firings : burst_firings;
      const auto crossing = std::count_if(one.inputs.begin(), one.inputs.end(),
                                          [](const Channel* channel) { return channel->crossing; });
      actor.needs_steady = crossing > 1;
      if (actor.needs_steady) {
        // A level that was not asked for again is of an earlier moment, and a long visit comes to where it ends.
        for (Channel* channel : one.inputs) {
          channel->reader_refill = Channel::always_refill;
        }
      }
      if (crosses) {
        actor.shown_every = one.shown_every;
      }
    }
  }

  Instances& instances_;
  std::vector<std::unique_ptr<Team>> teams_;
  std::vector<Team*> team_of_;
  std::vector<std::size_t> place_of_;
};

}  // namespace dse
