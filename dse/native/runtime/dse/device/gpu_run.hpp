// The groups of a kernel among the threads of a run: starts the kernel, carries words between both, and ends it.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <thread>
#include <vector>

#include "dse/counter.hpp"
#include "dse/device/gpu.hpp"
#include "dse/device/plan_maker.hpp"
#include "dse/faults.hpp"
#include "dse/halt.hpp"
#include "dse/instances.hpp"
#include "dse/termination.hpp"

namespace dse::device {

/// All calls come from one thread, which is none of those that run actors.
class GpuRun {
 public:
  /// `first_slot`: that of the first group; those of the others follow. Throws ConfigError where memory does not suffice.
  GpuRun(Instances& instances, const RunOptions& options, Gpu& gpu, Halt& halt, Termination& termination,
         std::size_t first_slot)
      : instances_(instances),
        gpu_(gpu),
        halt_(halt),
        termination_(termination),
        first_slot_(first_slot),
        maker_(instances, options, gpu) {
    watch_positions();
  }

  /// Start the kernel. Throws ConfigError where its groups cannot all be at work at once.
  void launch() {
    start_ = end_ = Moment::now();
    gpu_.launch(maker_.plan(), maker_.block_count(), maker_.shape().threads());
  }

  /// Carry words between kernel and threads. What goes wrong in the kernel ends the run.
  void carry() {
    try {
      take_ids();
      mirror();
      std::atomic_ref(maker_.control().request).store(termination_.request(), std::memory_order_release);
      wake_sleepers();
      const bool has_ended = gpu_.has_ended();
      look_for_failure();
      if (has_ended) {
        throw RunError("the kernel ended before the run was over", {}, "this is a fault of dse");
      }
    } catch (...) {
      halt_.fail(std::current_exception());
    }
  }

  /// Let the kernel end, wait for that, and read back what it did. The run must be over. Throws what went wrong in it.
  void finish() {
    std::atomic_ref(maker_.control().stop).store(1, std::memory_order_release);
    while (!gpu_.has_ended()) {
      take_ids();
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    take_ids();
    look_for_failure();
    maker_.gather();
  }

  /// Return what the kernel tells of time and of its card, and how it fired; `finish` must have been called.
  GpuReport report() {
    GpuReport told = maker_.report();
    const Shape& shape = maker_.shape();
    told.blocks = shape.blocks;
    told.threads = shape.lanes;
    told.said = shape.said;
    for (std::size_t k = 0; k != instances_.actors.size(); ++k) {
      const auto* const actor = instances_.on_gpu[k] ? &static_cast<const OnGpu&>(*instances_.actors[k]) : nullptr;
      told.batched.push_back(actor == nullptr ? 0 : actor->batched);
      told.shared.push_back(actor == nullptr ? 0 : actor->shared);
    }
    return told;
  }

  std::int64_t firings() const {
    std::int64_t sum = 0;
    for (std::size_t k = 0; k != maker_.group_count(); ++k) {
      sum += peek(maker_.words(k).firings);
    }
    return sum;
  }

  /// When the kernel was started, and when a group was last seen to have turned from work to idleness.
  const Moment& start() const { return start_; }
  const Moment& end() const { return end_; }

 private:
  /// A position that a kernel moves, and who may sleep because of it.
  struct Watched {
    std::atomic<std::int64_t>* position;
    Sleepers* sleepers;
    std::int64_t known;
  };

  template <class T>
  static T peek(const T& word) {
    return std::atomic_ref(const_cast<T&>(word)).load(std::memory_order_acquire);
  }

  void watch_positions() {
    for (std::size_t k = 0; k != instances_.channels.size(); ++k) {
      const ConnectionInfo& info = instances_.network.connections[k];
      Channel& channel = *instances_.channels[k];
      const bool writes = instances_.on_gpu[static_cast<std::size_t>(info.source)];
      const bool reads = instances_.on_gpu[static_cast<std::size_t>(info.target)];
      if (writes && !reads) {
        watched_.push_back({&channel.written, channel.reader_parking, 0});
      } else if (reads && !writes) {
        watched_.push_back({&channel.read, channel.writer_parking, 0});
      }
    }
  }

  void mirror() {
    for (std::size_t k = 0; k != maker_.group_count(); ++k) {
      const GroupWords& words = maker_.words(k);
      const std::uint64_t confirmed = peek(words.confirmed);
      const std::int64_t idle_firings = peek(words.idle_firings);
      const std::uint64_t epoch = peek(words.epoch);
      Slot& slot = termination_.slot(first_slot_ + k);
      if (slot.epoch.load(std::memory_order_relaxed) != epoch) {
        end_ = Moment::now();
      }
      slot.firings.store(peek(words.firings), std::memory_order_relaxed);
      termination_.mirrors(slot, confirmed, epoch, idle_firings);
    }
  }

  void wake_sleepers() {
    for (Watched& one : watched_) {
      const std::int64_t now = one.position->load(std::memory_order_acquire);
      if (now != one.known && one.sleepers->has_sleepers()) {
        one.sleepers->wake();
      }
      one.known = now;
    }
  }

  void take_ids() {
    for (IdRing& ring : maker_.id_rings()) {
      const std::int64_t end = peek(*ring.plan.ids_written);
      if (ring.plan.narrow) {
        move_ids<NarrowId>(ring, end);
      } else {
        move_ids<WideId>(ring, end);
      }
      std::atomic_ref(*ring.plan.ids_read).store(end, std::memory_order_release);
    }
  }

  template <class Id>
  void move_ids(IdRing& ring, std::int64_t end) {
    Log& log = instances_.actors[ring.actor]->log;
    while (ring.taken != end) {
      log.make_room();
      Id* next = log.next<Id>();
      for (std::int64_t left = burst_firings; left != 0 && ring.taken != end; --left, ++ring.taken) {
        *next++ = static_cast<const Id*>(ring.plan.ids)[static_cast<std::uint64_t>(ring.taken) & ring.plan.ids_mask];
      }
      log.wrote(next);
    }
  }

  void look_for_failure() {
    if (peek(maker_.control().failed) == 0) {
      return;
    }
    const FaultWords& words = maker_.control().fault;
    const std::size_t index = maker_.actor(static_cast<std::size_t>(words.actor));
    const Fault fault(words.message, words.site, words.expected);
    throw placed(instances_.info(index), *instances_.actors[index], fault);
  }

  Instances& instances_;
  Gpu& gpu_;
  Halt& halt_;
  Termination& termination_;
  const std::size_t first_slot_;
  PlanMaker maker_;
  std::vector<Watched> watched_;
  Moment start_;
  Moment end_;
};

}  // namespace dse::device
