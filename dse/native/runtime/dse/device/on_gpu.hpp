// Stands for an actor that is on a GPU, among the actors of a run: what the kernel tells of it is kept here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "dse/actor.hpp"
#include "dse/run_types.hpp"
#include "dse/tables.hpp"
#include "dse/wait.hpp"

namespace dse {

class OnGpu final : public Actor {
 public:
  using Actor::Actor;
  void start() override {}
  void run(std::int64_t) override { condition = Condition::waits; }
  void explain(std::vector<Wait>& found) override { found.insert(found.end(), waits.begin(), waits.end()); }

  std::vector<Wait> waits;   // at the end of the run
  std::int64_t batched = 0;  // firings by several threads at once
  std::int64_t shared = 0;   // rounds of loops by several threads
};

/// Return for each actor whether a mapping has it on a GPU.
inline std::vector<bool> actors_on_gpu(const NetworkInfo& network, const Mapping& mapping) {
  std::vector<bool> found(network.actors.size(), false);
  for (const Partition& partition : mapping.partitions) {
    for (const int actor : partition.actors) {
      found[static_cast<std::size_t>(actor)] = partition.on_gpu;
    }
  }
  return found;
}

}  // namespace dse
