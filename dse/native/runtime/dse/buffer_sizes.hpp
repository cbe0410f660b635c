// Sizes of FIFOs by connection, as .bxdf files and the `connections` of mapping files give them: the rules and messages
// of dse/formats/connections.py.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dse/network_names.hpp"
#include "dse/xml_reading.hpp"

namespace dse {

/// Reads the sizes that elements give. 0 stands for a connection of which nothing is said.
class BufferSizes {
 public:
  BufferSizes(xml::Reader& reader, const NetworkNames& names)
      : reader_(reader), names_(names), sizes_(names.connections().size()), places_(names.connections().size()) {}

  void read(const xml::Element& element) {
    static constexpr std::array<std::string_view, 3> source = {"source", "source-actor", "src"};
    static constexpr std::array<std::string_view, 2> source_port = {"source-port", "src-port"};
    static constexpr std::array<std::string_view, 3> target = {"target", "target-actor", "dst"};
    static constexpr std::array<std::string_view, 2> target_port = {"target-port", "dst-port"};
    const std::array<const std::string*, 4> ends = {end_of(element, source), end_of(element, source_port),
                                                    end_of(element, target), end_of(element, target_port)};
    const std::optional<std::int64_t> size = reader_.count(element, {"size"});
    if (!size && reader_.attribute(element, {"size"}) == nullptr) {
      reader_.error("the connection has no 'size'", element, "expected 'size=\"TOKENS\"'");
    }
    if (std::find(ends.begin(), ends.end(), nullptr) == ends.end()) {
      keep(element, {*ends[0], *ends[1], *ends[2], *ends[3]}, size);
    }
  }

  const std::vector<std::int64_t>& sizes() const { return sizes_; }

 private:
  /// Return an attribute by any of its names.
  const std::string* end_of(const xml::Element& element, std::span<const std::string_view> synonyms) {
    for (const std::string_view name : synonyms.subspan(1)) {
      const xml::Attribute* found = reader_.attribute(element, {name});
      if (found != nullptr && !found->value.empty()) {
        return &found->value;
      }
    }
    return reader_.required(element, {synonyms[0]});
  }

  void keep(const xml::Element& element, const Ends& ends, std::optional<std::int64_t> size) {
    const int index = names_.connection(ends);
    if (index < 0) {
      const std::string name = ends[0] + "." + ends[1] + "->" + ends[2] + "." + ends[3];
      reader_.error("there is no connection " + name + " in network '" + names_.network().name + "'", element,
                    nearest_names(name, names_.connections()));
      return;
    }
    const auto k = static_cast<std::size_t>(index);
    if (places_[k] != nullptr) {
      reader_.error("connection " + names_.connections()[k] + " is given twice", element,
                    "the first is in line " + std::to_string(reader_.line(*places_[k])));
    } else if (size) {
      sizes_[k] = *size;
      places_[k] = &element;
    }
  }

  xml::Reader& reader_;
  const NetworkNames& names_;
  std::vector<std::int64_t> sizes_;
  std::vector<const xml::Element*> places_;
};

/// Refuse sizes with which some firing could never happen. Throws ConfigError that names all of them.
inline void check_capacities(const NetworkNames& names, const std::vector<std::int64_t>& capacities) {
  std::vector<Diagnostic> found;
  for (std::size_t k = 0; k != capacities.size(); ++k) {
    const std::int64_t least = names.network().connections[k].least_tokens;
    if (capacities[k] < least) {
      const std::string needed = std::to_string(least);
      found.push_back({"connection " + names.connections()[k] + " has room for " + std::to_string(capacities[k]) +
                           " tokens, but a firing moves " + needed + " at once",
                       {},
                       "give it at least " + needed});
    }
  }
  raise_errors(std::move(found));
}

}  // namespace dse
