// Which actions the profiler's program times one by one: the file of --singly.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dse/errors.hpp"
#include "dse/files.hpp"
#include "dse/number_text.hpp"
#include "dse/tables.hpp"
#include "dse/utf8.hpp"

namespace dse::detail {

/// Return the actions that a file names for being timed one by one, as numbers of actor and action, a line each.
inline std::vector<std::pair<int, int>> read_singly(const std::string& path, const NetworkInfo& network) {
  constexpr std::size_t most_bytes = std::size_t{1} << 24;
  const std::string text = read_file(path, most_bytes);
  std::vector<std::pair<int, int>> found;
  std::int64_t line = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view words = stripped(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    ++line;
    if (words.empty()) {
      continue;
    }
    const std::size_t blank = std::min(words.find(' '), words.size());
    const auto actor = integer_from(words.substr(0, blank), 0, std::ssize(network.actors) - 1);
    const std::int64_t actions = actor ? std::ssize(network.actors[static_cast<std::size_t>(*actor)].actions) : 0;
    const auto action = integer_from(words.substr(blank), 0, actions - 1);
    if (!action) {
      throw ConfigError({"'" + shortened(words) + "' names no action", Place{path, line, 1, line, 1},
                         "expected the numbers of an actor and of one of its actions, such as 0 3"});
    }
    found.emplace_back(static_cast<int>(*actor), static_cast<int>(*action));
  }
  return found;
}

}  // namespace dse::detail
