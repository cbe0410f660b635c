// How the threads of a run learn that it is over, and why.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

#include "dse/parking.hpp"
#include "dse/run_types.hpp"
#include "dse/system_time.hpp"

namespace dse {

/// The first reason to end a run counts. Threads look at `asked` between visits; nobody writes it before the end.
class Halt {
 public:
  bool asked() const { return asked_.load(std::memory_order_relaxed); }

  /// End the run with a reason.
  void stop(Why why) {
    const std::lock_guard lock(mutex_);
    if (!asked()) {
      why_ = why;
      spread();
    }
  }

  /// End the run, as a native asks for.
  void exit(const ProgramExit& program) {
    const std::lock_guard lock(mutex_);
    if (!asked()) {
      why_ = program.frames ? Why::frames : Why::exit;
      exit_code_ = program.exit_code;
      spread();
    }
  }

  /// End the run by what a thread threw.
  void fail(std::exception_ptr failure) {
    const std::lock_guard lock(mutex_);
    if (!asked()) {
      failure_ = std::move(failure);
      spread();
    }
  }

  /// Wait until the run is over or some time has passed; return whether it is over.
  bool wait_for(std::int64_t longest_ns) {
    std::unique_lock lock(mutex_);
    if (!asked()) {
      changed_.wait_until(lock, system_time_in(longest_ns));
    }
    return asked();
  }

  /// Wake all threads that sleep.
  void wake_all() {
    for (Parking* parking : parkings) {
      parking->wake();
    }
  }

  /// Return why the run ended, or throw what a thread threw. No thread may run any more.
  Why why() const {
    if (failure_) {
      std::rethrow_exception(failure_);
    }
    return why_;
  }

  int exit_code() const { return exit_code_; }

  std::vector<Parking*> parkings;  // filled before the threads start

 private:
  void spread() {
    asked_.store(true);
    changed_.notify_all();
    wake_all();
  }

  alignas(64) std::atomic<bool> asked_{false};
  alignas(64) std::mutex mutex_;
  std::condition_variable changed_;
  std::exception_ptr failure_;
  Why why_ = Why::quiescent;
  int exit_code_ = 0;
};

}  // namespace dse
