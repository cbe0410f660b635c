// Actors and connections of a network by the names that mapping files use for them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
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
using Ends = std::array<std::string, 4>;

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
  int actor(const std::string& name) const { return found(exact_actors_, loose_actors_, name); }

  /// Return the number of a connection, -1 for none. '/' in its actors may be written '_', where that is unambiguous.
  int connection(const Ends& ends) const { return found(exact_ends_, loose_ends_, key_of(ends)); }

 private:
  using Numbers = std::map<std::string, int>;

  static int found(const Numbers& exact, const Numbers& loose, const std::string& name) {
    if (const auto place = exact.find(name); place != exact.end()) {
      return place->second;
    }
    const auto place = loose.find(name);
    return place == loose.end() ? -1 : place->second;
  }

  /// Note a number under a name; -1 where others have it too.
  static void note(Numbers& numbers, const std::string& name, int number) {
    const auto [place, is_new] = numbers.try_emplace(name, number);
    if (!is_new && place->second != number) {
      place->second = -1;
    }
  }

  /// Return the ends of a connection as one text: no name has a zero byte in it.
  static std::string key_of(const Ends& ends) {
    std::string key;
    for (const std::string& name : ends) {
      key += name;
      key += '\0';
    }
    return key;
  }

  void name_actors() {
    for (const ActorInfo& info : network_.actors) {
      const auto index = static_cast<int>(actors_.size());
      actors_.emplace_back(info.name);
      exact_actors_.try_emplace(info.name, index);
      note(loose_actors_, without_slashes(info.name, '_'), index);
      note(loose_actors_, without_slashes(info.name, '.'), index);
    }
  }

  void name_connections() {
    for (const ConnectionInfo& info : network_.connections) {
      const ActorInfo& source = at(network_.actors, info.source);
      const ActorInfo& target = at(network_.actors, info.target);
      Ends ends = {source.name, at(source.outputs, info.source_port), target.name, at(target.inputs, info.target_port)};
      const auto index = static_cast<int>(connections_.size());
      connections_.push_back(ends[0] + "." + ends[1] + "->" + ends[2] + "." + ends[3]);
      exact_ends_[key_of(ends)] = index;
      ends[0] = without_slashes(ends[0], '_');
      ends[2] = without_slashes(ends[2], '_');
      note(loose_ends_, key_of(ends), index);
    }
  }

  template <class T>
  static const T& at(std::span<const T> items, int index) {
    return items[static_cast<std::size_t>(index)];
  }

  const NetworkInfo& network_;
  std::vector<std::string> actors_;
  std::vector<std::string> connections_;
  Numbers exact_actors_;
  Numbers loose_actors_;
  Numbers exact_ends_;
  Numbers loose_ends_;
};

}  // namespace dse
