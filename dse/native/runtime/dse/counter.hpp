// The finest counter of time that the machine has.
#pragma once

#include <time.h>

#include <cstdint>

namespace dse {

enum class CounterKind : std::uint32_t { tsc = 1, cntvct = 2, nanoseconds = 3 };

/// Return the nanoseconds of the monotonic clock, which is that of std::chrono::steady_clock: <chrono> would be a
/// quarter of what is read for an actor.
inline std::int64_t nanoseconds_now() {
  timespec now = {};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{1'000'000'000} * now.tv_sec + now.tv_nsec;
}

#if defined(__x86_64__)

inline constexpr CounterKind counter_kind = CounterKind::tsc;
inline constexpr const char* counter_name = "tsc";

/// Return the counter now; no instruction waits for another because of it.
inline std::uint64_t counter_now() { return __builtin_ia32_rdtsc(); }

#elif defined(__aarch64__)

inline constexpr CounterKind counter_kind = CounterKind::cntvct;
inline constexpr const char* counter_name = "cntvct";

/// Return the counter now.
inline std::uint64_t counter_now() {
  std::uint64_t value = 0;
  __asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(value));
  return value;
}

#else

inline constexpr CounterKind counter_kind = CounterKind::nanoseconds;
inline constexpr const char* counter_name = "nanoseconds";

/// Return the counter now.
inline std::uint64_t counter_now() {
  return static_cast<std::uint64_t>(nanoseconds_now());
}

#endif

/// One moment on both clocks.
struct Moment {
  static Moment now() { return {nanoseconds_now(), counter_now()}; }
  std::int64_t ns = 0;
  std::uint64_t counter = 0;
};

}  // namespace dse
