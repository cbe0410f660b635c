// Actors and connections of a network by the names that mapping files use for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "dse/tables.hpp"

namespace dse {

/// Return a text with each '/' replaced.
inline std::string without_slashes(std::string text, char by) {
  for (char& c : text) {
    c = c == '/' ? by : c;
  }
  return text;
}

/// Source actor and port, target actor and port of a connection.
using Ends = std::tuple<std::string, std::string, std::string, std::string>;

class NetworkNames {
 public:
  explicit NetworkNames(const NetworkInfo& network) : network_(network) {
    name_actors();
    name_connections();
  }

  const NetworkInfo& network() const { return network_; }
  const std::vector<std::string>& actors() const { return actors_; }
  const std::vector<std::string>& connections() const { return connections_; }

  /// Return the number of an actor, -1 for none. '/' in its name may be written '_' or '.', where that is unambiguous.
  int actor(const std::string& name) const {
    const auto exact = exact_actors_.find(name);
    if (exact != exact_actors_.end()) {
      return exact->second;
    }
    const auto loose = loose_actors_.find(name);
    return loose == loose_actors_.end() ? -1 : loose->second;
  }

  /// Return the number of a connection, -1 for none. '/' in its actors may be written '_', where that is unambiguous.
  int connection(const Ends& ends) const {
    const auto exact = exact_ends_.find(ends);
    if (exact != exact_ends_.end()) {
      return exact->second;
    }
    const auto loose = loose_ends_.find(ends);
    return loose == loose_ends_.end() ? -1 : loose->second;
  }

 private:
  void name_actors() {
    for (const ActorInfo& info : network_.actors) {
      const auto index = static_cast<int>(actors_.size());
      actors_.emplace_back(info.name);
      exact_actors_.try_emplace(info.name, index);
      for (const char by : {'_', '.'}) {
        const auto [place, is_new] = loose_actors_.try_emplace(without_slashes(info.name, by), index);
        if (!is_new && place->second != index) {
          place->second = -1;
        }
      }
    }
  }

  void name_connections() {
    for (const ConnectionInfo& info : network_.connections) {
      const ActorInfo& source = at(network_.actors, info.source);
      const ActorInfo& target = at(network_.actors, info.target);
      const Ends ends{source.name, at(source.outputs, info.source_port), target.name,
                      at(target.inputs, info.target_port)};
      exact_ends_[ends] = static_cast<int>(connections_.size());
      connections_.push_back(std::get<0>(ends) + "." + std::get<1>(ends) + "->" + std::get<2>(ends) + "." +
                             std::get<3>(ends));
    }
    for (const auto& [ends, index] : exact_ends_) {
      Ends loose = ends;
      std::get<0>(loose) = without_slashes(std::get<0>(ends), '_');
      std::get<2>(loose) = without_slashes(std::get<2>(ends), '_');
      const auto [place, is_new] = loose_ends_.try_emplace(loose, index);
      if (!is_new) {
        place->second = -1;
      }
    }
  }

  template <class T>
  static const T& at(std::span<const T> items, int index) {
    return items[static_cast<std::size_t>(index)];
  }

  const NetworkInfo& network_;
  std::vector<std::string> actors_;
  std::vector<std::string> connections_;
  std::unordered_map<std::string, int> exact_actors_;
  std::unordered_map<std::string, int> loose_actors_;  // -1 where several actors could be meant
  std::map<Ends, int> exact_ends_;
  std::map<Ends, int> loose_ends_;
};

}  // namespace dse
