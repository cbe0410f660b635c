// What a crash of the program says: the signal, and the actor that was at work. Then the signal takes its course.
#pragma once

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstddef>

namespace dse {

/// Return the name of the actor that the calling thread runs, null between actors; a handler of signals calls it.
using NameAtWork = const char* (*)();

/// An alternate stack for the handlers of one thread: a thread whose stack is full can say so. To be made first in it.
class CrashStack {
 public:
  CrashStack() {
    void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
      return;  // then a stack overflow says nothing
    }
    memory_ = memory;
    stack_t stack = {};
    stack.ss_sp = memory;
    stack.ss_size = bytes;
    ::sigaltstack(&stack, nullptr);
  }
  CrashStack(const CrashStack&) = delete;
  CrashStack& operator=(const CrashStack&) = delete;
  ~CrashStack() {
    if (memory_ != nullptr) {
      stack_t none = {};
      none.ss_flags = SS_DISABLE;
      ::sigaltstack(&none, nullptr);
      ::munmap(memory_, bytes);
    }
  }

 private:
  static constexpr std::size_t bytes = std::size_t{64} << 10;
  void* memory_ = nullptr;
};

namespace detail {

struct CrashSignal {
  int number;
  const char* name;
};

inline constexpr std::array<CrashSignal, 5> crash_signals = {{{SIGSEGV, "SIGSEGV"},
                                                              {SIGBUS, "SIGBUS"},
                                                              {SIGFPE, "SIGFPE"},
                                                              {SIGILL, "SIGILL"},
                                                              {SIGABRT, "SIGABRT"}}};

/// Append a text to a line, its odd bytes replaced. Only what a handler of signals may do is done.
inline std::size_t append_line(char* line, std::size_t used, std::size_t size, const char* text) {
  for (; *text != '\0' && used + 2 < size; ++text) {
    line[used++] = *text >= ' ' && *text <= '~' ? *text : '?';
  }
  return used;
}

inline NameAtWork name_at_work = nullptr;

extern "C" inline void dse_say_crash(int number) {
  char line[512];
  const char* name = name_at_work();
  std::size_t used = append_line(line, 0, sizeof line, "crash: ");
  for (const CrashSignal& one : crash_signals) {
    if (one.number == number) {
      used = append_line(line, used, sizeof line, one.name);
    }
  }
  if (name != nullptr) {
    used = append_line(line, used, sizeof line, " in '");
    used = append_line(line, used, sizeof line, name);
    used = append_line(line, used, sizeof line, "'");
  }
  line[used++] = '\n';
  static_cast<void>(!::write(STDERR_FILENO, line, used));
  ::raise(number);  // the handler is gone (SA_RESETHAND): the signal ends the process when this returns
}

}  // namespace detail

/// Let crashes say what they are. What a sanitizer has taken for itself stays with it.
inline void watch_crashes(NameAtWork name_at_work) {
  detail::name_at_work = name_at_work;
  for (const detail::CrashSignal& one : detail::crash_signals) {
    struct sigaction before = {};
    if (::sigaction(one.number, nullptr, &before) != 0 || before.sa_handler != SIG_DFL) {
      continue;
    }
    struct sigaction action = {};
    action.sa_handler = detail::dse_say_crash;
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_ONSTACK | SA_NODEFER);
    ::sigemptyset(&action.sa_mask);
    ::sigaction(one.number, &action, nullptr);
  }
}

}  // namespace dse
