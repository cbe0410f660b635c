// What a thread of a run cost the system: switches, faults, cycles, and the core that it was on.
#pragma once

#include <time.h>

#include <cstdint>
#include <optional>

#include "dse/machine.hpp"
#include "dse/run_types.hpp"

#if defined(__linux__)
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace dse {

/// Return the time that the calling thread has had a core, in nanoseconds.
inline std::optional<std::int64_t> thread_cpu_ns() {
#if defined(CLOCK_THREAD_CPUTIME_ID)
  timespec time = {};
  if (::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0) {
    return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::int64_t>(time.tv_nsec);
  }
#endif
  return std::nullopt;
}

#if defined(__linux__)

/// One event of the calling thread, counted by the processor in user space, where the system allows that.
class ThreadCounter {
 public:
  explicit ThreadCounter(std::uint64_t event) {
    perf_event_attr wanted = {};
    wanted.type = PERF_TYPE_HARDWARE;
    wanted.size = sizeof wanted;
    wanted.config = event;
    wanted.exclude_kernel = 1;
    wanted.exclude_hv = 1;
    file_ = static_cast<int>(::syscall(SYS_perf_event_open, &wanted, 0, -1, -1, 0));
  }
  ThreadCounter(const ThreadCounter&) = delete;
  ThreadCounter& operator=(const ThreadCounter&) = delete;
  ~ThreadCounter() {
    if (file_ >= 0) {
      ::close(file_);
    }
  }

  std::optional<std::uint64_t> value() const {
    std::uint64_t count = 0;
    if (file_ >= 0 && ::read(file_, &count, sizeof count) == static_cast<ssize_t>(sizeof count)) {
      return count;
    }
    return std::nullopt;
  }

 private:
  int file_ = -1;
};

#endif

/// Watches the calling thread from its making to `report`.
class ThreadWatch {
 public:
  ThreadWatch(int partition, int pinned_core) {
    report_.partition = partition;
    report_.core = pinned_core;
    report_.core_at_start = core_now();
    add_usage(-1);
    cpu_at_start_ = thread_cpu_ns();
  }

  /// Return what the thread has done. To be called once, on that thread.
  ThreadReport report() {
    if (const std::optional<std::int64_t> now = thread_cpu_ns(); now && cpu_at_start_) {
      report_.cpu_ns = *now - *cpu_at_start_;
    }
    add_usage(1);
    report_.core_at_end = core_now();
#if defined(__linux__)
    report_.cycles = cycles_.value();
    report_.instructions = instructions_.value();
    report_.cache_misses = cache_misses_.value();
#endif
    return report_;
  }

 private:
  void add_usage(std::int64_t sign) {
#if defined(__linux__)
    rusage usage = {};
    getrusage(RUSAGE_THREAD, &usage);
    report_.voluntary_switches += sign * usage.ru_nvcsw;
    report_.involuntary_switches += sign * usage.ru_nivcsw;
    report_.minor_faults += sign * usage.ru_minflt;
    report_.major_faults += sign * usage.ru_majflt;
#else
    static_cast<void>(sign);
#endif
  }

  ThreadReport report_;
  std::optional<std::int64_t> cpu_at_start_;
#if defined(__linux__)
  ThreadCounter cycles_{PERF_COUNT_HW_CPU_CYCLES};
  ThreadCounter instructions_{PERF_COUNT_HW_INSTRUCTIONS};
  ThreadCounter cache_misses_{PERF_COUNT_HW_CACHE_MISSES};
#endif
};

}  // namespace dse
