// Why a network stopped: what each actor waits for, and whether larger FIFOs would let it go on.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "dse/instances.hpp"
#include "dse/run_types.hpp"

namespace dse {

/// Return the connections from an output port, in the order of its readers.
inline std::vector<std::size_t> connections_from(const NetworkInfo& network, int actor, int port) {
  std::vector<std::size_t> found;
  for (std::size_t k = 0; k != network.connections.size(); ++k) {
    if (network.connections[k].source == actor && network.connections[k].source_port == port) {
      found.push_back(k);
    }
  }
  return found;
}

/// Add to a wait who could end it: the writer of the input, or the readers of the output whose FIFOs are full.
inline void name_peers(const Instances& instances, Wait& wait) {
  if (wait.kind == WaitKind::tokens) {
    for (const ConnectionInfo& connection : instances.network.connections) {
      if (connection.target == wait.actor && connection.target_port == wait.port) {
        wait.peers = {connection.source};
      }
    }
  }
  if (wait.kind == WaitKind::room) {
    for (const std::size_t k : connections_from(instances.network, wait.actor, wait.port)) {
      if (instances.channels[k]->capacity - instances.channels[k]->left() < wait.need) {
        wait.peers.push_back(instances.network.connections[k].target);
      }
    }
  }
}

/// Return what each actor waits for: one entry for each candidate action of its present state. No actor may run.
inline std::vector<Wait> find_waits(const Instances& instances) {
  std::vector<Wait> all;
  for (std::size_t k = 0; k != instances.actors.size(); ++k) {
    if (instances.actors[k]->finished) {
      continue;
    }
    std::vector<Wait> waits;
    instances.actors[k]->explain(waits);
    for (Wait& wait : waits) {
      wait.actor = static_cast<int>(k);
      name_peers(instances, wait);
      all.push_back(std::move(wait));
    }
  }
  return all;
}

using WaitGraph = std::map<int, std::vector<int>>;

/// Return the shortest chain of waits from one actor to another, both named; empty where there is none.
inline std::vector<int> chain_of_waits(const WaitGraph& graph, int start, int goal) {
  std::map<int, int> came = {{start, -1}};
  std::vector<int> pending = {start};
  for (std::size_t next = 0; next != pending.size(); ++next) {
    const int node = pending[next];
    if (node == goal) {
      std::vector<int> path;
      for (int at = node; at >= 0; at = came[at]) {
        path.insert(path.begin(), at);
      }
      return path;
    }
    const auto edges = graph.find(node);
    for (const int other : edges == graph.end() ? std::vector<int>{} : edges->second) {
      if (came.try_emplace(other, node).second) {
        pending.push_back(other);
      }
    }
  }
  return {};
}

/// Return the deadlock of a cycle of waits: which FIFO is full, and the least capacity that would let its writer fire.
inline Deadlock deadlock_of(const Instances& instances, const Wait& wait, int peer, std::vector<int> cycle) {
  Deadlock deadlock;
  deadlock.actors = std::move(cycle);
  for (const std::size_t k : connections_from(instances.network, wait.actor, wait.port)) {
    if (instances.network.connections[k].target == peer) {
      deadlock.connection = static_cast<int>(k);
      deadlock.capacity_tokens = instances.channels[k]->capacity;
      deadlock.needed_tokens = instances.channels[k]->left() + wait.need;
      break;
    }
  }
  return deadlock;
}

/// Return the first cycle of waits with a full FIFO in it, or nothing: a reader that has stopped is no deadlock.
inline std::optional<Deadlock> find_deadlock(const Instances& instances, const std::vector<Wait>& waits) {
  WaitGraph graph;
  for (const Wait& wait : waits) {
    std::vector<int>& peers = graph[wait.actor];
    peers.insert(peers.end(), wait.peers.begin(), wait.peers.end());
  }
  for (const Wait& wait : waits) {
    for (const int peer : wait.kind == WaitKind::room ? wait.peers : std::vector<int>{}) {
      std::vector<int> cycle = chain_of_waits(graph, peer, wait.actor);
      if (!cycle.empty()) {
        return deadlock_of(instances, wait, peer, std::move(cycle));
      }
    }
  }
  return std::nullopt;
}

}  // namespace dse
