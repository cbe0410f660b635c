// Clocks on a GPU: that of the multiprocessor, and the timer of the card; and who writes down what they say.
#pragma once

#include <cstdint>

#include "dse/device/times.hpp"
#include "dse/where.hpp"

namespace dse::device {

/// Return the cycles of the multiprocessor. No access to memory moves to the other side of a reading.
DSE_FN inline std::int64_t clock_now() {
#ifdef DSE_EMULATED
  return dse_emulation::clock_now();
#else
  std::int64_t cycles;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles)::"memory");
  return cycles;
#endif
}

/// Return the nanoseconds of the timer of the card, which may go in steps of a microsecond.
DSE_FN inline std::int64_t timer_now() {
#ifdef DSE_EMULATED
  return dse_emulation::timer_now();
#else
  std::int64_t ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns)::"memory");
  return ns;
#endif
}

DSE_FN inline void add(TimeSum& to, std::int64_t cycles) {
  to.least = to.count == 0 || cycles < to.least ? cycles : to.least;
  to.most = to.count == 0 || cycles > to.most ? cycles : to.most;
  ++to.count;
  to.sum += cycles;
  to.squares += static_cast<double>(cycles) * static_cast<double>(cycles);
}

/// Writes down, now and then, where both clocks are: one group does so for its multiprocessor.
class ClockSamples {
 public:
  DSE_FN explicit ClockSamples(ClockWords* words) : words_(words) {}

  /// Begin: find out what a reading takes, and take the first sample.
  DSE_FN void begin() {
    std::int64_t least = clock_now();
    DSE_LOOP for (int k = 0; k != 32; ++k) {
      const std::int64_t from = clock_now();
      const std::int64_t took = clock_now() - from;
      least = k == 0 || took < least ? took : least;
    }
    words_->reading = least;
    take();
  }

  /// Take a sample if the last one is old. When there is no more room every second one goes, and they become rarer.
  DSE_FN void look() {
    const std::int64_t now = timer_now();
    if (now - last_ns_ < interval_ns_) {
      return;
    }
    if (words_->n == ClockWords::most_samples - 1) {
      DSE_LOOP for (std::int32_t k = 1; 2 * k < words_->n; ++k) {
        words_->cycles[k] = words_->cycles[2 * k];
        words_->ns[k] = words_->ns[2 * k];
      }
      words_->n = (words_->n + 1) / 2;
      interval_ns_ *= 2;
    }
    take();
  }

  /// Take the last sample, for which there is always room. A short run is lengthened until there are two pieces of a
  /// millisecond, however late samples are: the timer may go in steps of a thousandth of that, and a clock that moves
  /// shows between pieces.
  DSE_FN void end() {
    while (words_->n < 3) {
      __nanosleep(10000);
      look();
    }
    take();
  }

 private:
  /// The timer may go in steps: a sample is taken where it makes one, so that both clocks tell of one moment.
  DSE_FN void take() {
    std::int64_t ns = 0;
    std::int64_t cycles = 0;
    DSE_LOOP for (int k = 0; k != 8; ++k) {
      const std::int64_t now = timer_now();
      ns = now;
      DSE_LOOP for (int tries = 0; tries != 1000 && ns == now; ++tries) {
        ns = timer_now();
      }
      cycles = clock_now();
      if (timer_now() - ns <= longest_look_ns) {
        break;  // nothing came between
      }
    }
    words_->cycles[words_->n] = cycles;
    words_->ns[words_->n] = ns;
    ++words_->n;
    last_ns_ = ns;
  }

  static constexpr std::int64_t longest_look_ns = 3000;
  static constexpr std::int64_t first_interval_ns = 1 << 20;
  ClockWords* words_;
  std::int64_t last_ns_ = 0;
  std::int64_t interval_ns_ = first_interval_ns;
};

/// Times every firing of one visit: communication, body and scheduling, each between two readings of the clock. Only the
/// thread that leads a group has one, so that nobody disturbs its notes.
class VisitClock {
 public:
  static constexpr bool notes = true;

  DSE_FN explicit VisitClock(ActorTimes& times) : times_(times) {}

  DSE_FN void enters() { last_ = clock_now(); }
  DSE_FN void refreshed(EndTimes& of) {
    of.looked = clock_now() - last_;
    last_ = clock_now();
  }
  DSE_FN void reached(int phase) { reached_[phase] = clock_now(); }
  DSE_FN void fired(int action) {
    const std::int64_t end = clock_now();
    add(times_.choosing[(previous_ + 1) * times_.actions + action], reached_[0] - last_);
    add(times_.phases[3 * action], reached_[1] - reached_[0]);
    add(times_.phases[3 * action + 1], reached_[2] - reached_[1]);
    add(times_.phases[3 * action + 2], end - reached_[2]);
    previous_ = action;
    last_ = clock_now();
  }

  /// An end has told how far it is.
  DSE_FN void published(EndTimes& of) { lap(of.publish); }

  /// The test has failed, or the budget is spent.
  DSE_FN void leaves() { lap(previous_ >= 0 ? *times_.leaving : *times_.vain); }

  /// Note what the look of an end took at the begin of the visit, if it was not in vain.
  DSE_FN void looked(EndTimes& of) {
    if (previous_ >= 0) {
      add(of.refresh, of.looked);
    }
    last_ = clock_now();
  }

 private:
  DSE_FN void lap(TimeSum& sum) {
    const std::int64_t took = clock_now() - last_;
    add(sum, took);
    last_ = clock_now();
  }

  ActorTimes& times_;
  std::int64_t last_ = 0;
  std::int64_t reached_[3] = {};
  int previous_ = -1;
};

/// Stands for `VisitClock` in the plain program.
class NoVisitClock {
 public:
  static constexpr bool notes = false;
  DSE_FN explicit NoVisitClock(ActorTimes&) {}
  DSE_FN void enters() {}
  DSE_FN void refreshed(EndTimes&) {}
  DSE_FN void reached(int) {}
  DSE_FN void fired(int) {}
  DSE_FN void published(EndTimes&) {}
  DSE_FN void leaves() {}
  DSE_FN void looked(EndTimes&) {}
};

}  // namespace dse::device
