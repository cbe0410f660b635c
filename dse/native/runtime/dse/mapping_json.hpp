// A mapping as it was understood, as JSON: what `--show-mapping` prints.
#pragma once

#include <cstddef>
#include <string>

#include "dse/json.hpp"
#include "dse/network_names.hpp"
#include "dse/xcf.hpp"

namespace dse {

inline std::string mapping_json(const NetworkNames& names, const Mapping& mapping) {
  JsonWriter json;
  const auto actors = [&](const std::vector<int>& numbers) {
    json.open_list();
    for (const int number : numbers) {
      json.value(names.actors()[static_cast<std::size_t>(number)]);
    }
    json.close_list();
  };
  json.open_object().key("partitions").open_list();
  for (const Partition& partition : mapping.partitions) {
    json.open_object().key("name").value(partition.name);
    json.key("policy").value(policy_names[static_cast<std::size_t>(partition.policy)]);
    json.key("cores").value(partition.cores);
    if (partition.on_gpu) {
      json.key("unit").value("gpu");
    }
    json.key("actors");
    actors(partition.actors);
    json.key("order");
    actors(partition.order);
    json.close_object();
  }
  json.close_list().key("capacities").list(mapping.capacities).close_object();
  return json.text();
}

}  // namespace dse
