// SIGINT and SIGTERM end a run between two visits.
#pragma once

#include <csignal>

#include <array>
#include <atomic>

namespace dse {

/// The signal that asked the run to end, or 0.
inline std::atomic<int> interrupt_signal{0};
static_assert(std::atomic<int>::is_always_lock_free);

extern "C" inline void dse_take_signal(int signal) { interrupt_signal.store(signal, std::memory_order_relaxed); }

/// While it lives, SIGINT and SIGTERM are noted in `interrupt_signal`. A second one ends the process at once: the
/// program may be in an action without end.
class SignalGuard {
 public:
  SignalGuard() {
    struct sigaction action = {};
    action.sa_handler = dse_take_signal;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigemptyset(&action.sa_mask);
    for (std::size_t k = 0; k != signals.size(); ++k) {
      sigaction(signals[k], &action, &before_[k]);
    }
  }
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;
  ~SignalGuard() {
    for (std::size_t k = 0; k != signals.size(); ++k) {
      sigaction(signals[k], &before_[k], nullptr);
    }
  }

 private:
  static constexpr std::array<int, 2> signals = {SIGINT, SIGTERM};
  std::array<struct sigaction, 2> before_ = {};
};

}  // namespace dse
