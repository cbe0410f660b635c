// The cores of this machine.
#pragma once

#include <cstddef>
#include <thread>
#include <vector>

#if defined(__linux__)
#include <sched.h>
#endif

namespace dse {

/// Return the cores that this process may use; empty where the system does not tell.
inline std::vector<int> allowed_cores() {
  std::vector<int> cores;
#if defined(__linux__)
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    for (int core = 0; core != CPU_SETSIZE; ++core) {
      if (CPU_ISSET(core, &set)) {
        cores.push_back(core);
      }
    }
  }
#endif
  return cores;
}

/// Return how many threads can run at once.
inline std::size_t core_count() {
  const std::size_t allowed = allowed_cores().size();
  return allowed != 0 ? allowed : std::thread::hardware_concurrency();
}

/// Keep the calling thread on one core; return whether the system does so.
inline bool pin_to(int core) {
#if defined(__linux__)
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  return sched_setaffinity(0, sizeof set, &set) == 0;
#else
  static_cast<void>(core);
  return false;
#endif
}

/// Return the core on which the calling thread runs now, or -1.
inline int core_now() {
#if defined(__linux__)
  return sched_getcpu();
#else
  return -1;
#endif
}

}  // namespace dse
