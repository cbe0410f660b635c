// Where threads sleep that have nothing to do.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "dse/sleepers.hpp"
#include "dse/system_time.hpp"

namespace dse {

/// The threads of one partition sleep here. Who publishes to them only reads `has_sleepers`, which nobody writes while
/// they work. There is no fence between publishing and that look, since it would cost each publication a trip to the
/// other core: a wake-up may so be missed, and a sleeper looks by itself after a while.
class Parking final : public Sleepers {
 public:
  /// Say that the thread is about to sleep. It must look once more for work, then `sleep` or `leave`.
  std::uint32_t announce() {
    sleepers_.fetch_add(1);
    return tickets_.load();
  }

  /// Take the announcement back.
  void leave() { sleepers_.fetch_sub(1); }

  /// Sleep until somebody wakes the threads after `announce` returned `ticket`, or for a while.
  void sleep(std::uint32_t ticket, std::int64_t longest_ns) {
    std::unique_lock lock(mutex_);
    const SystemTime until = system_time_in(longest_ns);
    while (tickets_.load() == ticket && changed_.wait_until(lock, until) == std::cv_status::no_timeout) {
    }
    leave();
  }

  void wake() override {
    {
      const std::lock_guard lock(mutex_);
      tickets_.fetch_add(1);
    }
    changed_.notify_all();
  }

 private:
  std::atomic<std::uint32_t> tickets_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
};

}  // namespace dse
