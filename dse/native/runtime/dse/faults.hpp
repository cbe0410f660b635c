// From what an actor threw to the error that names actor, action and place.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>

#include "dse/actor.hpp"
#include "dse/memory.hpp"
#include "dse/run_types.hpp"
#include "dse/tables.hpp"

namespace dse {

/// Return whether a place lies inside another.
inline bool contains(const Site& outer, const Site& inner) {
  if (inner.line == 0 || std::string(outer.path) != inner.path) {
    return false;
  }
  return std::tie(outer.line, outer.column) <= std::tie(inner.line, inner.column) &&
         std::tie(inner.end_line, inner.end_column) <= std::tie(outer.end_line, outer.end_column);
}

/// Return the site of that number, or no place.
inline Site site_of(const ActorInfo& info, int site) {
  const bool known = site >= 0 && static_cast<std::size_t>(site) < info.sites.size();
  return known ? info.sites[static_cast<std::size_t>(site)] : Site{};
}

/// Return actor and action or routine that were at work at a place, in words.
inline std::string where_text(const ActorInfo& info, const Site& place) {
  const std::string text = "in '" + std::string(info.name) + "'";
  for (const OwnerInfo& owner : info.owners) {
    if (contains(owner.place, place)) {
      return text + ", " + owner.name;
    }
  }
  return text;
}

/// Return a number with commas between thousands.
inline std::string grouped(std::int64_t number) {
  std::string text = std::to_string(number);
  const std::size_t first = number < 0 ? 1 : 0;
  for (std::size_t k = text.size(); k > first + 3;) {
    k -= 3;
    text.insert(k, 1, ',');
  }
  return text;
}

/// Return the error that a fault of an actor is.
inline RunError placed(const ActorInfo& info, const Actor& actor, const Fault& fault) {
  const Site place = site_of(info, fault.site < 0 ? actor.site_now : fault.site);
  return {where_text(info, place) + ": " + fault.what(), place, fault.expected};
}

/// Return the error that a lack of memory in an actor is.
inline RunError out_of_memory(const ActorInfo& info, const Actor& actor, std::int64_t firings) {
  const Site place = site_of(info, actor.site_now);
  return {where_text(info, place) + ": " + out_of_memory_text(grouped(firings)), place, out_of_memory_advice};
}

}  // namespace dse
