// A wall around the memory of a run, as dse/run/memory.py puts it up: what is asked for beyond it fails at that place.
// It is the limit that the system keeps for the data of the process; where there is none, a run is not limited.
#pragma once

#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

namespace dse {

/// Return an amount of memory in words.
inline std::string bytes_text(std::int64_t count) {
  constexpr std::int64_t mebibyte = std::int64_t{1} << 20, gibibyte = std::int64_t{1} << 30;
  char text[40];
  if (count >= gibibyte) {
    std::snprintf(text, sizeof text, "%.1f GiB", static_cast<double>(count) / static_cast<double>(gibibyte));
  } else {
    std::snprintf(text, sizeof text, "%.0f MiB", static_cast<double>(count) / static_cast<double>(mebibyte));
  }
  return text;
}

namespace detail {

inline constexpr std::int64_t least_memory_bytes = std::int64_t{64} << 20;  // less would hit what the program needs

/// Return the number behind a word at the start of a line of a small file; an empty word: of the first line.
inline std::optional<std::int64_t> number_in_file(const char* path, const char* word) {
  std::FILE* file = std::fopen(path, "r");
  if (file == nullptr) {
    return std::nullopt;
  }
  std::optional<std::int64_t> found;
  char line[256];
  while (!found && std::fgets(line, sizeof line, file) != nullptr) {
    const std::size_t length = std::strlen(word);
    if (std::strncmp(line, word, length) == 0) {
      char* end = nullptr;
      const long long value = std::strtoll(line + length, &end, 10);
      if (end != line + length && value >= 0) {
        found = value;
      }
    }
  }
  std::fclose(file);
  return found;
}

/// Return four fifths of the memory that is free, for this machine and this container; nothing where nobody tells.
inline std::optional<std::int64_t> free_share_bytes() {
  std::vector<std::int64_t> bounds;
  if (const auto free = number_in_file("/proc/meminfo", "MemAvailable:")) {
    bounds.push_back(*free << 10);
  }
  constexpr const char* groups[][2] = {
      {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"},
      {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"}};
  for (const auto& [limit, used] : groups) {
    const auto most = number_in_file(limit, ""), now = number_in_file(used, "");
    if (most && now) {
      bounds.push_back(std::max<std::int64_t>(0, *most - *now));
    }
  }
  if (bounds.empty()) {
    return std::nullopt;
  }
  return std::max(least_memory_bytes, *std::min_element(bounds.begin(), bounds.end()) / 5 * 4);
}

}  // namespace detail

/// The limit of one run. There is one for the process; only its maker may put it up.
class MemoryWall {
 public:
  /// Put it up: so many bytes above what the process has now, by default most of what is free.
  void raise_to(std::optional<std::int64_t> allowed) {
    const auto held = detail::number_in_file("/proc/self/status", "VmData:");
    const auto wanted = allowed ? std::max(*allowed, detail::least_memory_bytes) : detail::free_share_bytes();
    if (!held || !wanted || ::getrlimit(RLIMIT_DATA, &before_) != 0) {
      return;
    }
    rlimit limit = before_;
    const rlim_t most = static_cast<rlim_t>(*held << 10) + static_cast<rlim_t>(*wanted);
    limit.rlim_cur = std::min({most, before_.rlim_cur, before_.rlim_max});  // RLIM_INFINITY is the largest number
    if (::setrlimit(RLIMIT_DATA, &limit) == 0) {
      allowed_ = *wanted;
      is_up_ = true;
    }
  }

  /// Take it away, so that an error can be told; again has no effect.
  void lift() noexcept {
    if (is_up_) {
      is_up_ = false;
      ::setrlimit(RLIMIT_DATA, &before_);
    }
  }

  /// How many bytes the run may take, where that is limited.
  std::optional<std::int64_t> allowed() const { return allowed_; }

 private:
  std::optional<std::int64_t> allowed_;
  rlimit before_ = {};
  bool is_up_ = false;
};

inline MemoryWall& memory_wall() {
  static MemoryWall wall;
  return wall;
}

/// What to do when a run asks for more memory than it may take.
inline constexpr const char* out_of_memory_advice =
    "if it would go on for ever, end it with --max-firings N; --max-memory SIZE allows more";

/// Return what happened then, and lift the wall: to tell it needs memory too. `firings` is a number as it is shown.
inline std::string out_of_memory_text(const std::string& firings) {
  memory_wall().lift();
  const auto allowed = memory_wall().allowed();
  const std::string than = allowed ? " than the " + bytes_text(*allowed) + " that it may take" : "";
  return "the run needs more memory" + than + ", after " + firings + " firings";
}

}  // namespace dse
