// Until when a thread waits at most. <condition_variable> brings the types; <chrono>, which prints times too, would be a
// tenth of what is compiled for the engine.
#pragma once

#include <condition_variable>
#include <cstdint>

namespace dse {

/// A moment of the system's clock: the thread sanitizer of some compilers does not know of waits by the steady one.
using SystemTime = std::chrono::time_point<std::chrono::system_clock, std::chrono::nanoseconds>;

inline SystemTime system_time_in(std::int64_t ns) {
  return std::chrono::system_clock::now() + std::chrono::nanoseconds(ns);
}

}  // namespace dse
