// Files of FIFO sizes (.bxdf): the reader of dse/formats/bxdf.py. Files before 2021 say `source-actor` and
// `target-actor`; a connection that is left out has the `default-size`, and where that is missing too, 512 tokens.
// Elements of other names are passed over beside connections, but not in their place.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "dse/buffer_sizes.hpp"

namespace dse {

inline constexpr std::int64_t default_fifo_tokens = 512;

/// Return the capacity of each connection in tokens. Throws ConfigError with all that is wrong.
inline std::vector<std::int64_t> read_bxdf(const xml::Document& document, const NetworkNames& names) {
  xml::Reader reader(document);
  const xml::Element& root = reader.root();
  if (xml::lowered(root.name) != "bxdf") {
    reader.error("the root element is '" + root.name + "'", root, "expected 'bxdf': this is no file of buffer sizes");
  }
  reader.finish();
  const std::int64_t others = reader.count(root, {"default-size"}).value_or(default_fifo_tokens);
  BufferSizes sizes(reader, names);
  const std::vector<const xml::Element*> connections = reader.children(root, {"connection"});
  if (connections.empty() && !root.children.empty()) {
    const xml::Element& other = *root.children.front();
    reader.error("'" + other.name + "' gives no FIFO a size", other, "expected 'connection', of which there is none");
  }
  for (const xml::Element* element : connections) {
    sizes.read(*element);
  }
  reader.finish();
  std::vector<std::int64_t> capacities = sizes.sizes();
  for (std::int64_t& capacity : capacities) {
    capacity = capacity == 0 ? others : capacity;
  }
  return capacities;
}

}  // namespace dse
