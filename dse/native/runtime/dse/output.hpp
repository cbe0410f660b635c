// Standard output and error of a program. What the network prints goes out as it is, or with all that a terminal obeys
// replaced where it is one. A reader that has gone, a full disk or a closed stream ends no work that has more to give.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>

#include "dse/counter.hpp"
#include "dse/errors.hpp"
#include "dse/terminal.hpp"

namespace dse {

/// Nobody reads standard output any more, and nothing else is to be had: thrown out of the run.
struct ReaderGone {};

/// Write all of a text to a file descriptor. Return 0, or the error of the system.
inline int write_all(int file, std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t count = ::write(file, text.data(), text.size());
    if (count < 0 && errno != EINTR) {
      return errno;
    }
    text.remove_prefix(count < 0 ? 0 : static_cast<std::size_t>(count));
  }
  return 0;
}

/// Write a line, or several, to standard error. The text must be harmless.
inline void tell(const std::string& text) { static_cast<void>(write_all(STDERR_FILENO, text + "\n")); }

inline void tell(const ConfigError& error) {
  for (const Diagnostic& one : error.diagnostics()) {
    tell(render(one));
  }
}

/// Open the standard streams that are closed: the next file that is opened would get the number of one.
inline void open_closed_streams() {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(number, F_GETFD) < 0) {
      static_cast<void>(::open("/dev/null", O_RDWR));  // gets the lowest number that is free
    }
  }
}

/// Let a write to a pipe without reader, and one beyond the largest size of files (`ulimit -f`), be errors like others.
inline void ignore_signals_of_writes() {
  struct sigaction action = {};
  action.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &action, nullptr);
  ::sigaction(SIGXFSZ, &action, nullptr);
}

/// What the network prints, on its way to standard output. Any thread may write.
class ProgramOutput {
 public:
  /// `needed`: the run has more to give than this text, so it goes on when nobody reads it.
  explicit ProgramOutput(bool needed) : needed_(needed), terminal_(::isatty(STDOUT_FILENO) == 1) {}

  /// Write, soon. Throws ReaderGone where nobody reads it and nothing else is to be had.
  void write(std::string_view text) {
    const std::lock_guard<std::mutex> guard(mutex_);
    count_ += text.size();
    waiting_ += text;
    const std::int64_t now_ns = nanoseconds_now();
    if (terminal_ || waiting_.size() >= most_waiting || now_ns - last_ns_ >= longest_wait_ns) {
      last_ns_ = now_ns;
      send();
      if (failure_ != 0 && !needed_) {
        throw ReaderGone{};
      }
    }
  }

  /// Write all that waits.
  void flush() {
    const std::lock_guard<std::mutex> guard(mutex_);
    send();
  }

  /// The bytes printed so far.
  std::size_t count() const { return count_; }

  /// The error that ended the writing, 0 for none.
  int failure() const { return failure_; }

 private:
  static constexpr std::size_t most_waiting = std::size_t{1} << 16;
  static constexpr std::int64_t longest_wait_ns = 50'000'000;

  void send() {
    if (failure_ == 0 && !waiting_.empty()) {
      failure_ = write_all(STDOUT_FILENO, terminal_ ? shown_lines(waiting_) : waiting_);
    }
    waiting_.clear();
  }

  const bool needed_;
  const bool terminal_;
  std::mutex mutex_;
  std::string waiting_;
  std::size_t count_ = 0;
  std::int64_t last_ns_ = nanoseconds_now();
  int failure_ = 0;
};

/// Return the exit code: 1 in place of success, with a message, where standard output could not be written. A reader
/// that has gone is no error.
inline int final_code(int code, const ProgramOutput& output) {
  const int failure = output.failure();
  if (failure == 0 || failure == EPIPE) {
    return code;
  }
  tell(std::string("error: standard output: ") + std::strerror(failure) +
       "\n  = what it was to show is lost; files that were asked for are written");
  return code == 0 || code == exit_reader_gone ? exit_failed : code;
}

}  // namespace dse
