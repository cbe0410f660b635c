// Runs a network on the threads of a mapping.
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <functional>
#include <latch>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "dse/counter.hpp"
#include "dse/crash.hpp"
#include "dse/device/gpu_run.hpp"
#include "dse/engine.hpp"
#include "dse/interrupts.hpp"
#include "dse/machine.hpp"
#include "dse/observing.hpp"
#include "dse/teams.hpp"
#include "dse/thread_watch.hpp"
#include "dse/worker.hpp"

namespace dse {

class Parallel {
 public:
  /// `gpu`: null where the mapping has no actor on one. Throws ConfigError where it cannot hold its part.
  Parallel(Instances& instances, const RunOptions& options, Progress progress, AroundThread around_thread,
           device::Gpu* gpu = nullptr)
      : instances_(instances),
        teams_(TeamBuilder(instances, options.mapping).take()),
        progress_(std::move(progress)),
        around_thread_(std::move(around_thread)),
        cores_(allowed_cores()),
        pin_(options.pin),
        together_(instances, options, thread_count(), device::groups_of(options.mapping).size()),
        records_(make_records(options, thread_count(), instances.actors.size())) {
    reports_.resize(thread_count());
    for (const auto& team : teams_) {
      together_.halt.parkings.push_back(&team->parking);
    }
    if (gpu != nullptr) {
      gpu_ = std::make_unique<device::GpuRun>(instances, options, *gpu, together_.halt, together_.termination,
                                              thread_count());
    }
  }

  /// Run the initializers, then all threads until one finds a reason to stop.
  /// Throws RunError, NoMemory, InputRefused, Interrupted.
  Why run() {
    try {
      start_actors();
    } catch (const ProgramExit& program) {
      together_.halt.exit(program);
      return together_.halt.why();
    }
    make_workers();
    if (gpu_) {
      gpu_->launch();
    }
    run_threads();
    finish_gpu();
    note_ends();
    publish_rest();
    return together_.halt.why();
  }

  int exit_code() const { return together_.halt.exit_code(); }

  /// What each thread noted, in the profiler's program.
  const Records& records() const { return records_; }

  /// What the threads were and did, and how long the run took: from the first visit to the last that found work.
  void tell(RunResult& result) const {
    note_times(result, start_, end_);
    result.pinned = pin_;
    result.threads = reports_;
    if (gpu_) {
      result.gpu = gpu_->report();
    }
  }

  /// Of a run that ended since nothing moves: return the partition whose static order waits for an actor although one
  /// that it has passed over can fire, or "". Lets that actor fire.
  std::string wrong_order() {
    for (const auto& worker : workers_) {
      for (const std::size_t place : worker->chooser().passed_over()) {
        const std::size_t index = worker->team().members[place].index;
        if (fires(index)) {
          publish_rest();
          return "the static order of '" + worker->team().name + "' cannot be followed: when it was the turn of '" +
                 instances_.info(index).name + "', that had to wait for actors that stand behind it";
        }
      }
    }
    return "";
  }

 private:
  std::size_t thread_count() const {
    std::size_t count = 0;
    for (const auto& team : teams_) {
      count += team->threads;
    }
    return count;
  }

  /// Let an actor fire once; return whether it did. No thread may run any more.
  bool fires(std::size_t index) {
    Pulse pulse;
    instances_.actors[index]->pulse = &pulse;
    try {
      return visit_actor(instances_, index, [](Actor& actor) { actor.run(1); }).firings != 0;
    } catch (const ProgramExit&) {
      return true;  // in the middle of the firing
    }
  }

  /// Run the initializers, one actor after the other as in a run on one thread.
  void start_actors() {
    Pulse pulse;
    pulse.records = records_.empty() ? nullptr : records_.front().get();
    std::int64_t firings = 0;
    for (std::size_t k = 0; k != instances_.actors.size(); ++k) {
      if (instances_.on_gpu[k]) {
        continue;  // the kernel runs its initializers
      }
      instances_.actors[k]->pulse = &pulse;
      const Visited visited = visit_actor(instances_, k, [](Actor& actor) {
        actor.start();
        actor.condition = Condition::ready;
      });
      firings += visited.firings;
    }
    together_.tickets.take_initial(firings);
    publish_rest();
  }

  void publish_rest() {
    for (const auto& channel : instances_.channels) {
      channel->written.store(channel->written_reached);
      channel->read.store(channel->read_reached);
    }
  }

  void make_workers() {
    const bool crowded = thread_count() > core_count();
    for (const auto& team : teams_) {
      for (std::size_t k = 0; k != team->threads; ++k) {
        const std::size_t thread = workers_.size();
        ThreadRecords* records = records_.empty() ? nullptr : records_[thread].get();
        workers_.push_back(std::make_unique<Worker>(together_, *team, thread, crowded, records));
      }
    }
    introduce();
  }

  /// Tell each thread of its peers. It hears of none where it could not know of all in time: a kernel's slots are told
  /// late, and threads of one team wait for each other too.
  void introduce() {
    for (const auto& worker : workers_) {
      const Team& team = worker->team();
      const bool known = !team.shared() && std::none_of(team.peers.begin(), team.peers.end(),
                                                        [](const Team* peer) { return peer->on_gpu; });
      for (std::size_t k = 0; known && k != workers_.size(); ++k) {
        if (team.peers.count(&workers_[k]->team()) != 0) {
          worker->add_peer(together_.termination.slot(k));
        }
      }
    }
  }

  void run_threads() {
    std::latch started(static_cast<std::ptrdiff_t>(workers_.size()) + 1);
    std::vector<std::thread> threads;
    threads.reserve(workers_.size());
    for (std::size_t k = 0; k != workers_.size(); ++k) {
      try {
        threads.emplace_back([this, k, &started] { work(k, started); });
      } catch (...) {
        together_.halt.fail(start_failure(k));
        started.count_down(static_cast<std::ptrdiff_t>(workers_.size() - k));
        break;
      }
    }
    started.arrive_and_wait();
    watch();
    for (std::thread& thread : threads) {
      thread.join();
    }
  }

  /// End the kernel. Throws what went wrong in it, but the first failure of the run counts.
  void finish_gpu() {
    try {
      if (gpu_) {
        gpu_->finish();
      }
    } catch (...) {
      static_cast<void>(together_.halt.why());
      throw;
    }
  }

  /// The threads know when they began; this one may have been waked late.
  void note_ends() {
    start_ = gpu_ ? gpu_->start() : workers_.front()->first_work();
    end_ = gpu_ ? gpu_->end() : Moment();
    for (const auto& worker : workers_) {
      start_ = worker->first_work().ns < start_.ns ? worker->first_work() : start_;
      end_ = worker->last_work().ns > end_.ns ? worker->last_work() : end_;
    }
  }

  /// Return what to say of the exception that is handled: a thread could not start.
  std::exception_ptr start_failure(std::size_t thread) const {
    try {
      throw;
    } catch (const std::system_error& error) {
      return std::make_exception_ptr(RunError("thread " + std::to_string(thread + 1) + " of " +
                                                  std::to_string(workers_.size()) + " cannot start: " +
                                                  error.code().message(),
                                              {}, "use fewer partitions or cores"));
    } catch (...) {
      return std::current_exception();
    }
  }

  void work(std::size_t thread, std::latch& started) {
    const CrashStack stack;
    const int core = pin_ && !cores_.empty() ? cores_[thread % cores_.size()] : -1;
    const bool pinned = core >= 0 && pin_to(core);
    ThreadWatch watch(workers_[thread]->team().partition, pinned ? core : -1);
    started.arrive_and_wait();
    const auto body = [this, thread] { workers_[thread]->run(); };
    try {
      around_thread_ ? around_thread_(body) : body();
    } catch (...) {
      together_.halt.fail(std::current_exception());
    }
    reports_[thread] = watch.report();
    const WaitCounts& waits = workers_[thread]->waits();
    reports_[thread].spins = waits.spins;
    reports_[thread].yields = waits.yields;
    reports_[thread].sleeps = waits.sleeps;
  }

  /// Until the run is over: look for signals, and tell how far it is.
  void watch() {
    const std::int64_t pause_ns = gpu_ ? carry_every_ns : look_every_ns;
    for (std::int64_t passed_ns = pause_ns; !together_.halt.wait_for(pause_ns); passed_ns += pause_ns) {
      if (gpu_) {
        gpu_->carry();
      }
      if (passed_ns < look_every_ns) {
        continue;
      }
      passed_ns = 0;
      const int signal = interrupt_signal.load(std::memory_order_relaxed);
      if (signal != 0) {
        together_.halt.fail(std::make_exception_ptr(
            Interrupted("the run was on " + std::to_string(workers_.size()) + " threads", signal)));
      }
      tell_progress();
    }
  }

  /// What goes wrong here ends the run as what goes wrong in a thread does: the threads must end first.
  void tell_progress() {
    try {
      if (progress_) {
        progress_(firings());
      }
    } catch (...) {
      together_.halt.fail(std::current_exception());
    }
  }

  std::int64_t firings() {
    std::int64_t sum = 0;
    for (std::size_t k = 0; k != workers_.size(); ++k) {
      sum += together_.termination.slot(k).firings.load(std::memory_order_relaxed);
    }
    return sum + (gpu_ ? gpu_->firings() : 0);
  }

  static constexpr std::int64_t look_every_ns = 50'000'000;
  static constexpr std::int64_t carry_every_ns = 100'000;

  Instances& instances_;
  std::vector<std::unique_ptr<Team>> teams_;
  const Progress progress_;
  const AroundThread around_thread_;
  const std::vector<int> cores_;
  const bool pin_;
  Together together_;
  const Records records_;
  std::unique_ptr<device::GpuRun> gpu_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<ThreadReport> reports_;  // by worker; each thread writes its own
  Moment start_;
  Moment end_;
};

}  // namespace dse
