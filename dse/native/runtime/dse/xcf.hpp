// Mapping files (.xcf): the reader of dse/formats/xcf.py, with its rules and messages. Four dialects are read without
// being told which (exelixi, turnus, streamblocks, art), in any letter case, with the project's own attributes beside.
//
// There is no platform here but the machine that the program runs on: a name of a CPU is as good as any other, and a
// partition of a GPU or FPGA is refused.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dse/buffer_sizes.hpp"
#include "dse/network_names.hpp"
#include "dse/run_types.hpp"
#include "dse/xml_reading.hpp"

namespace dse {

/// The names of the policies in the order of `Policy`.
inline constexpr std::array<const char*, 5> policy_names = {"NON_PREEMPTIVE", "ROUND_ROBIN", "DATA_DEMAND_DRIVEN",
                                                            "FULL_PARALLEL", "STATIC_ORDER"};

namespace detail {

/// The project's namespace, and a name in it.
inline constexpr std::string_view own_space = "urn:dse:design-point:1";
constexpr xml::Key own(std::string_view name) { return {name, own_space}; }

class XcfReader {
 public:
  XcfReader(const xml::Document& document, const NetworkNames& names)
      : reader_(document), names_(names), owners_(names.actors().size()) {}

  /// Return what the file says. Sizes that it does not give are 0.
  Mapping mapping() {
    const xml::Element& root = reader_.root();
    if (xml::lowered(root.name) != "configuration") {
      reader_.error("the root element is '" + root.name + "'", root,
                    "expected 'Configuration': this is no mapping file");
    }
    reader_.finish();
    Mapping mapping;
    mapping.partitions = partitions();
    mapping.capacities = sizes();
    reader_.check_choice(root, own("release"), {"reading", "processing"});
    reader_.check_choice(root, own("transfers"), {"sequential", "parallel"});
    reader_.finish();
    return mapping;
  }

 private:
  std::vector<std::int64_t> sizes() {
    BufferSizes sizes(reader_, names_);
    for (const xml::Element* group : reader_.children(reader_.root(), {"connections", "buffers"})) {
      for (const xml::Element* element : reader_.children(*group, {"connection", "fifo-connection", "buffer"})) {
        sizes.read(*element);
      }
    }
    return sizes.sizes();
  }

  // Partitions

  std::vector<Partition> partitions() {
    const std::vector<const xml::Element*> groups = reader_.children(reader_.root(), {"partitioning"});
    if (groups.empty()) {
      reader_.error("there is no 'Partitioning'", reader_.root(), "expected '<Partitioning>' with partitions");
      return {};
    }
    std::vector<Partition> found;
    for (const xml::Element* group : groups) {
      for (const xml::Element* element : reader_.children(*group, {"partition"})) {
        Partition one = partition(*element);
        if (!one.actors.empty() || reader_.attribute(*element, own("unit")) != nullptr) {
          found.push_back(std::move(one));
        }
      }
    }
    refuse_missing(*groups.front());
    name_distinctly(found);
    return found;
  }

  /// Refuse actors that are in no partition.
  void refuse_missing(const xml::Element& group) {
    std::vector<std::string> missing;
    for (std::size_t k = 0; k != owners_.size(); ++k) {
      if (owners_[k] == nullptr) {
        missing.push_back("'" + names_.actors()[k] + "'");
      }
    }
    if (!missing.empty()) {
      reader_.error("actors in no partition: " + joined(missing, missing.size(), ", "), group,
                    "expected each actor in one partition");
    }
  }

  /// Give partitions distinct names: one's own name may be another's id.
  static void name_distinctly(std::vector<Partition>& partitions) {
    std::map<std::string, int> seen;
    for (std::size_t k = 0; k != partitions.size(); ++k) {
      std::string& name = partitions[k].name;
      if (seen.contains(name)) {
        name += "#" + std::to_string(k);
      }
      seen.try_emplace(name, 0);
    }
  }

  Partition partition(const xml::Element& element) {
    Partition result;
    const std::string* identity = reader_.required(element, {"id"});
    refuse_repeated(identity == nullptr ? "" : *identity, element);
    result.name = reader_.text(element, own("name"));
    if (result.name.empty() && identity != nullptr) {
      result.name = *identity;
    }
    const std::vector<const xml::Element*> instances = reader_.children(element, {"instance"});
    for (const xml::Element* instance : instances) {
      const int index = actor(*instance);
      if (index >= 0 && claim(index, *instance)) {
        result.actors.push_back(index);
      }
    }
    result.policy = policy(element);
    if (!instances.empty() || !reader_.text(element, own("unit")).empty()) {
      check_unit(element, identity == nullptr ? "" : *identity, result);
    }
    result.cores = cores(element);
    if (result.on_gpu) {
      result.cores = 1;
    }
    result.order = order(element, result);
    check_clock(element);
    return result;
  }

  /// Record the place of an id; a second one is an error.
  void refuse_repeated(const std::string& identity, const xml::Element& element) {
    const xml::Element* first = named_.try_emplace(identity, &element).first->second;
    if (!identity.empty() && first != &element) {
      reader_.error("partition '" + shortened(identity) + "' is there twice", element,
                    "the first is in line " + std::to_string(reader_.line(*first)) +
                        "; give each an id of its own, or make them one",
                    {"id"});
    }
  }

  /// Return the actor that an instance names, -1 after an error.
  int actor(const xml::Element& element) {
    const std::string* name = reader_.required(element, {"id"});
    if (name == nullptr) {
      return -1;
    }
    const int index = names_.actor(*name);
    if (index < 0) {
      reader_.error("there is no actor '" + shortened(*name) + "' in network '" + names_.network().name + "'", element,
                    nearest_names(*name, names_.actors()), {"id"});
    }
    return index;
  }

  /// Record the place of an actor; a second one is an error.
  bool claim(int index, const xml::Element& element) {
    const xml::Element*& first = owners_[static_cast<std::size_t>(index)];
    if (first == nullptr) {
      first = &element;
      return true;
    }
    reader_.error("actor '" + name_of(index) + "' is placed twice", element,
                  "the first place is in line " + std::to_string(reader_.line(*first)), {"id"});
    return false;
  }

  const std::string& name_of(int actor) const { return names_.actors()[static_cast<std::size_t>(actor)]; }

  /// Return the policy of a partition, else that of the network element, else NON_PREEMPTIVE.
  Policy policy(const xml::Element& element) {
    std::vector<const xml::Element*> places = reader_.children(reader_.root(), {"network"});
    places.insert(places.begin(), &element);
    for (const xml::Element* place : places) {
      const xml::Attribute* found = reader_.attribute(*place, {"scheduling"});
      if (found == nullptr) {
        continue;
      }
      const std::string name = policy_spelling(found->value);
      const auto known = std::find(policy_names.begin(), policy_names.end(), name);
      if (known != policy_names.end()) {
        return static_cast<Policy>(known - policy_names.begin());
      }
      reader_.error("unknown policy '" + shortened(found->value) + "'", *place,
                    nearest_names(name, {policy_names.begin(), policy_names.end()}), {"scheduling"});
      break;
    }
    return Policy::non_preemptive;
  }

  /// Return the name of a policy in capitals and with underscores.
  static std::string policy_spelling(std::string_view text) {
    std::string name(stripped(text));
    for (char& c : name) {
      c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
      c = c == '-' || c == ' ' ? '_' : c;
    }
    return name;
  }

  /// Return the cores of a partition: the project's attribute, or an integer `pe` of the turnus dialect.
  std::int64_t cores(const xml::Element& element) {
    const bool is_own = reader_.attribute(element, own("cores")) != nullptr;
    if (!is_own && !is_count(reader_.text(element, {"pe"}))) {
      return 1;
    }
    return reader_.count(element, is_own ? own("cores") : xml::Key{"pe"}).value_or(1);
  }

  /// Return whether a text is digits, perhaps behind minus signs.
  static bool is_count(std::string_view text) {
    std::string_view rest = stripped(text);
    while (rest.starts_with('-')) {
      rest.remove_prefix(1);
    }
    return is_digits(rest);
  }

  /// Check the clock chosen for the unit of a partition. A run has the clock that the machine gives it.
  void check_clock(const xml::Element& element) {
    const xml::Attribute* found = reader_.attribute(element, own("clock-mhz"));
    if (found == nullptr) {
      return;
    }
    const std::optional<Decimal> value = parse_decimal(found->value);
    const bool positive = value && !value->is_zero() && !value->negative;
    const bool small = positive && value->magnitude() < -5;  // below 1e-6
    const bool large = positive && (value->magnitude() > 6 || (value->magnitude() == 6 && value->digits != "1"));
    if (!positive || small || large) {
      reader_.error("the clock of the partition is '" + shortened(found->value) + "'", element,
                    positive ? "expected a number from 1e-06 to 100000 MHz" : "expected MHz, a number above 0",
                    own("clock-mhz"));
    }
  }

  /// Return the cyclic list of a static schedule.
  std::vector<int> order(const xml::Element& element, const Partition& partition) {
    std::vector<int> found;
    for (const xml::Element* group : reader_.children(element, {"order"})) {
      for (const xml::Element* instance : reader_.children(*group, {"instance"})) {
        const int index = actor(*instance);
        if (index >= 0 && !holds(partition.actors, index)) {
          reader_.error("actor '" + name_of(index) + "' of the order is not in the partition", *instance,
                        "add it to both", {"id"});
        } else if (index >= 0) {
          found.push_back(index);
        }
      }
    }
    check_order(element, partition, found);
    return found;
  }

  void check_order(const xml::Element& element, const Partition& partition, const std::vector<int>& order) {
    if (partition.policy != Policy::static_order) {
      return;
    }
    for (const int index : partition.actors) {
      if (!holds(order, index)) {
        reader_.error("the static order leaves out actors", element, "expected 'order' with every instance");
        break;
      }
    }
    if (partition.cores != 1) {
      const std::string cores = std::to_string(partition.cores);
      reader_.error("a STATIC_ORDER partition has " + cores + " cores", element, "it takes 1");
    }
  }

  static bool holds(const std::vector<int>& numbers, int number) {
    return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
  }

  // Units

  /// Refuse what a kernel cannot do: an actor that has no device code, a policy that it does not have.
  void check_on_gpu(const xml::Element& element, const std::string& identity, const Partition& partition) {
    for (const int index : partition.actors) {
      const ActorInfo& info = names_.network().actors[static_cast<std::size_t>(index)];
      if (info.unit < 0) {
        reader_.error("actor '" + name_of(index) + "' of partition '" + shortened(identity) + "' cannot run on a GPU: " +
                          info.host_only,
                      element, "place it in a partition on a CPU");
      }
    }
    if (partition.policy == Policy::static_order || partition.policy == Policy::data_demand_driven) {
      reader_.error("the policy " + std::string(policy_names[static_cast<std::size_t>(partition.policy)]) +
                        " is none that a partition on a GPU has",
                    element, "FULL_PARALLEL, or one actor after the other: NON_PREEMPTIVE, ROUND_ROBIN", {"scheduling"});
    }
  }

  /// Refuse a partition that is on no CPU, nor on a GPU that the program can use.
  void check_unit(const xml::Element& element, const std::string& identity, Partition& result) {
    const std::string unit = xml::lowered(reader_.text(element, own("unit")));
    const std::string written = std::string(stripped(reader_.text(element, {"pe"}))), pe = xml::lowered(written);
    const bool named_gpu = unit.empty() ? is_one_of(pe, gpu_elements) : unit.starts_with("gpu") || unit == "cuda";
    const bool on_gpu = named_gpu || (xml::lowered(identity) == "pg" && !unit.starts_with("cpu"));
    if (on_gpu && names_.network().device != nullptr) {
      result.on_gpu = true;
      check_on_gpu(element, identity, result);
    } else if (on_gpu) {
      reader_.error("partition '" + shortened(identity) + "' is on a GPU, which this program cannot use", element,
                    "place its actors in a partition on a CPU, or build the program with 'dse build --cuda'");
    } else if (unit.empty() && is_one_of(pe, hardware_elements)) {
      reader_.error("partition '" + shortened(identity) + "' is on an FPGA, which no platform here has", element,
                    "place it on a CPU (x86_64) or a GPU", {"pe"});
    } else if (unit.empty() && !pe.empty() && !is_count(pe) && !is_one_of(pe, cpu_elements)) {
      std::vector<std::string> known(cpu_elements.begin(), cpu_elements.end());
      known.insert(known.end(), gpu_elements.begin(), gpu_elements.end());
      reader_.error("unknown processing element '" + shortened(written) + "'", element,
                    nearest_names(written, known), {"pe"});
    }
  }

  template <std::size_t N>
  static bool is_one_of(std::string_view text, const std::array<std::string_view, N>& known) {
    return std::find(known.begin(), known.end(), text) != known.end();
  }

  static constexpr std::array<std::string_view, 6> cpu_elements = {"x86_64", "x86", "arm", "aarch64", "cpu", "sw"};
  static constexpr std::array<std::string_view, 2> gpu_elements = {"gpu", "cuda"};
  static constexpr std::array<std::string_view, 2> hardware_elements = {"fpga", "hw"};

  xml::Reader reader_;
  const NetworkNames& names_;
  std::vector<const xml::Element*> owners_;
  std::map<std::string, const xml::Element*> named_;
};

}  // namespace detail

/// Return what a mapping file says; sizes that it does not give are 0. Throws ConfigError with all that is wrong.
inline Mapping read_xcf(const xml::Document& document, const NetworkNames& names) {
  return detail::XcfReader(document, names).mapping();
}

/// Fill in the sizes that a mapping leaves open: what the network's file says, else `others`, but what a firing needs.
inline void fill_capacities(const NetworkInfo& network, std::int64_t others, std::vector<std::int64_t>& capacities) {
  capacities.resize(network.connections.size());
  for (std::size_t k = 0; k != capacities.size(); ++k) {
    const ConnectionInfo& connection = network.connections[k];
    if (capacities[k] == 0) {
      capacities[k] = connection.declared_tokens;
    }
    if (capacities[k] == 0) {
      capacities[k] = std::max(others, connection.least_tokens);
    }
  }
}

}  // namespace dse
