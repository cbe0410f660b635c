// Paths as pathlib and os.path understand them: texts of components, links followed as far as there is anything.
#pragma once

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "dse/run_types.hpp"

namespace dse::natives {

inline std::string error_text(int error) { return std::generic_category().message(error); }

/// Returns a name for a message: what() ends at a zero byte, which no terminal shows anyway.
inline std::string shown_name(const std::string& name) {
  std::string text;
  for (const char c : name) text += c == '\0' ? "\xEF\xBF\xBD" : std::string(1, c);
  return text;
}

namespace paths {

inline constexpr std::size_t deepest_links = 900;  // links that lead to links

inline bool is_absolute(std::string_view path) { return !path.empty() && path.front() == '/'; }

/// Returns the root of a path: "", "/", or "//", which POSIX lets systems tell from it.
inline std::string root_of(std::string_view path) {
  if (!is_absolute(path)) return "";
  return path.starts_with("//") && !path.starts_with("///") ? "//" : "/";
}

/// Returns the components of a path, without empty ones and ".".
inline std::vector<std::string> parts_of(std::string_view path) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view part = path.substr(begin, end - begin);
    if (!part.empty() && part != ".") parts.emplace_back(part);
    begin = end + 1;
  }
  return parts;
}

inline std::string text_of(const std::string& root, const std::vector<std::string>& parts) {
  std::string text = root;
  for (const std::string& part : parts) {
    if (text.size() > root.size()) text += '/';
    text += part;
  }
  return text.empty() ? "." : text;
}

/// Returns a path without empty components and ".", as it is shown; links and ".." stay.
inline std::string tidy(std::string_view path) { return text_of(root_of(path), parts_of(path)); }

/// Returns the path of a name that counts from a folder, unless it is absolute.
inline std::string join(const std::string& folder, const std::string& name) {
  if (is_absolute(name) || folder.empty()) return tidy(name);
  return tidy(folder.ends_with('/') ? folder + name : folder + '/' + name);
}

inline std::string working_folder() {
  std::vector<char> place(PATH_MAX);
  if (getcwd(place.data(), place.size()) == nullptr) {
    throw Fault("cannot tell the working folder: " + error_text(errno));
  }
  return place.data();
}

/// Returns an absolute path without "..": links are not followed.
inline std::string absolute(const std::string& path) {
  const std::string whole = is_absolute(path) ? path : join(working_folder(), path);
  std::vector<std::string> parts;
  for (std::string& part : parts_of(whole)) {
    if (part != "..") {
      parts.push_back(std::move(part));
    } else if (!parts.empty()) {
      parts.pop_back();
    }
  }
  return text_of(root_of(whole), parts);
}

/// Returns whether an absolute path without ".." is a folder, or lies below it.
inline bool is_below(std::string_view place, std::string_view folder) {
  if (place == folder) return true;
  if (root_of(place) != root_of(folder)) return false;
  if (folder == root_of(folder)) return true;
  return place.size() > folder.size() && place.starts_with(folder) && place[folder.size()] == '/';
}

inline std::string name_of(const std::string& path) {
  const std::vector<std::string> parts = parts_of(path);
  return parts.empty() ? "" : parts.back();
}

inline std::string folder_of(const std::string& path) {
  std::vector<std::string> parts = parts_of(path);
  if (!parts.empty()) parts.pop_back();
  return text_of(root_of(path), parts);
}

/// Returns where the suffix of a file name begins; its end where it has none.
inline std::size_t suffix_place(const std::string& name) {
  const std::size_t point = name.rfind('.');
  return point == name.npos || point == 0 || point + 1 == name.size() ? name.size() : point;
}

inline std::string suffix_of(const std::string& path) {
  const std::string name = name_of(path);
  return name.substr(suffix_place(name));
}

/// Returns a path with something put behind the stem of its name. Throws Fault for a path that has no name.
inline std::string with_part(const std::string& path, const std::string& part) {
  std::string name = name_of(path);
  if (name.empty()) throw Fault("ValueError: PosixPath('" + tidy(path) + "') has an empty name");
  name.insert(suffix_place(name), part);
  return join(folder_of(path), name);
}

inline std::optional<struct stat> status_of(const std::string& path, bool follow) {
  struct stat status {};
  const int failed = follow ? stat(path.c_str(), &status) : lstat(path.c_str(), &status);
  return failed == 0 ? std::optional(status) : std::nullopt;
}

/// Returns whether there is something at a path, a link that leads nowhere too.
inline bool exists(const std::string& path) { return status_of(path, false).has_value(); }

inline bool is_folder(const std::string& path) {
  const auto status = status_of(tidy(path), true);
  return status && S_ISDIR(status->st_mode);
}

/// Follows the links of a path. What is not there counts as no link; links in a circle stay as they are.
class LinkFollower {
 public:
  /// `shown`: the name that the program used, for messages.
  explicit LinkFollower(std::string shown) : shown_(std::move(shown)) {}

  std::string follow(const std::string& path) {
    std::string place = is_absolute(path) ? "/" : working_folder();
    walk(place, path, 0);
    return absolute(place);
  }

 private:
  /// Goes from `place` along `rest`; returns false if a circle was met: the rest is then taken as it is written.
  bool walk(std::string& place, std::string rest, std::size_t depth) {
    if (depth > deepest_links) throw Fault("the recursion is too deep");
    if (is_absolute(rest)) place = "/";
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('/'), rest.size());
      const std::string part = rest.substr(0, end);
      rest.erase(0, end + 1);
      if (part.empty() || part == ".") continue;
      if (part == "..") {
        place = folder_of(place);
      } else if (!step(place, part, depth)) {
        place = join(place, rest);
        return false;
      }
    }
    return true;
  }

  bool step(std::string& place, const std::string& part, std::size_t depth) {
    if (part.find('\0') != part.npos) throw Fault("cannot open '" + shown_name(shown_) + "': embedded null byte");
    const std::string next = join(place, part);
    const auto status = status_of(next, false);
    if (!status || !S_ISLNK(status->st_mode)) {
      place = next;
      return true;
    }
    const auto [known, is_new] = leads_to_.try_emplace(next);
    if (!is_new) {
      place = known->second.value_or(next);
      return known->second.has_value();
    }
    if (!walk(place, target_of(next), depth + 1)) return false;
    leads_to_[next] = place;
    return true;
  }

  std::string target_of(const std::string& link) const {
    std::vector<char> target(PATH_MAX);
    const ssize_t size = readlink(link.c_str(), target.data(), target.size());
    if (size < 0) throw Fault("cannot open '" + shown_ + "': " + error_text(errno));
    return {target.data(), static_cast<std::size_t>(size)};
  }

  std::string shown_;
  std::map<std::string, std::optional<std::string>> leads_to_;  // nothing: it is being followed
};

/// Returns where a path leads, its links followed. Throws Fault for an impossible name.
inline std::string resolved(const std::string& path, const std::string& shown) {
  return LinkFollower(shown).follow(path);
}

}  // namespace paths
}  // namespace dse::natives
