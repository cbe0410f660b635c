// Which FIFOs lie between threads.
#pragma once

#include <cstddef>
#include <vector>

#include "dse/run_types.hpp"
#include "dse/tables.hpp"

namespace dse {

/// Return by connection whether its ends may be run by different threads.
inline std::vector<bool> ends_apart(const NetworkInfo& network, const Mapping& mapping) {
  std::vector<const Partition*> partition_of(network.actors.size(), nullptr);
  for (const Partition& partition : mapping.partitions) {
    for (const int actor : partition.actors) {
      partition_of[static_cast<std::size_t>(actor)] = &partition;
    }
  }
  std::vector<bool> apart;
  for (const ConnectionInfo& info : network.connections) {
    const Partition* const source = partition_of[static_cast<std::size_t>(info.source)];
    const bool shared = source != nullptr && (source->cores > 1 || source->policy == Policy::full_parallel);
    apart.push_back(info.source != info.target &&
                    (shared || source != partition_of[static_cast<std::size_t>(info.target)]));
  }
  return apart;
}

}  // namespace dse
