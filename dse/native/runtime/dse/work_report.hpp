// Where a program is that does not end: on SIGUSR1 it says on standard error which actors are at work, and goes on.
#pragma once

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "dse/at_work.hpp"
#include "dse/crash.hpp"

namespace dse {

namespace detail {

/// Append a number that is not below zero. Only what a handler of signals may do is done.
inline std::size_t append_number(char* line, std::size_t used, std::size_t size, std::int64_t number) {
  char digits[24];
  std::size_t first = sizeof digits - 1;
  digits[first] = '\0';
  do {
    digits[--first] = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number > 0);
  return append_line(line, used, size, digits + first);
}

/// Write `at work: 'a', act (3 firings before), 'b' (0 firings before)`, or `at work: no actor`, in one go.
extern "C" inline void dse_tell_work(int /*number*/) {
  const int error = errno;
  char line[2048];
  std::size_t used = append_line(line, 0, sizeof line, "at work: ");
  const char* between = "";
  const std::size_t count = std::min(work_places_taken.load(std::memory_order_relaxed), work_places.size());
  for (std::size_t k = 0; k != count; ++k) {
    const ActorInfo* actor = work_places[k].actor.load(std::memory_order_relaxed);
    if (actor != nullptr) {
      used = append_line(line, used, sizeof line, between);
      used = append_line(line, used, sizeof line, "'");
      used = append_line(line, used, sizeof line, actor->name);
      used = append_line(line, used, sizeof line, "'");
      const int action = work_places[k].action.load(std::memory_order_relaxed);
      if (action >= 0 && static_cast<std::size_t>(action) < actor->actions.size()) {
        used = append_line(line, used, sizeof line, ", ");
        used = append_line(line, used, sizeof line, actor->actions[static_cast<std::size_t>(action)].name);
      }
      used = append_line(line, used, sizeof line, " (");
      used = append_number(line, used, sizeof line, work_places[k].firings.load(std::memory_order_relaxed));
      used = append_line(line, used, sizeof line, " firings before)");
      between = ", ";
    }
  }
  if (*between == '\0') {
    used = append_line(line, used, sizeof line, "no actor");
  }
  line[used++] = '\n';
  static_cast<void>(!::write(STDERR_FILENO, line, used));
  errno = error;
}

}  // namespace detail

/// Let the program say where it is when SIGUSR1 comes.
inline void tell_work_when_asked() {
  struct sigaction action = {};
  action.sa_handler = detail::dse_tell_work;
  action.sa_flags = static_cast<int>(SA_RESTART | SA_ONSTACK);
  ::sigemptyset(&action.sa_mask);
  ::sigaction(SIGUSR1, &action, nullptr);
}

}  // namespace dse
