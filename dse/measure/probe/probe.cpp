// Measures the machine, not a network: its counter, the distance of its cores, what moving tokens between them takes.
//
//   probe counter                                    rate, step and cost of the counter
//   probe round-trip CORE CORE                       a cache line there and back
//   probe crossing CORE CORE CAPACITY BLOCK BYTES WORK   blocks of tokens through a FIFO of the runtime
//
// Each prints one line of JSON. Durations are in counts of the counter unless a key says `ns`.
#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <numeric>
#include <string_view>
#include <thread>
#include <vector>

#include "dse/actor.hpp"
#include "dse/counter.hpp"
#include "dse/machine.hpp"
#include "dse/waiting.hpp"

namespace {

using Count = std::uint64_t;

// Let a thread wait until both are there; after that each is at work at once.
class Gate {
 public:
  void meet() {
    waiting_.fetch_add(1);
    while (waiting_.load(std::memory_order_acquire) < 2) {
      dse::pause_briefly();
    }
  }

 private:
  std::atomic<int> waiting_{0};
};

int tell_counter() {
  // Rate: over a tenth of a second, both clocks read close to each other at both ends.
  constexpr std::int64_t rate_ns = 100'000'000;
  const std::int64_t start_ns = dse::nanoseconds_now();
  const Count start = dse::counter_now();
  std::int64_t end_ns = start_ns;
  while (end_ns - start_ns < rate_ns) {
    end_ns = dse::nanoseconds_now();
  }
  const Count end = dse::counter_now();
  const double hz = static_cast<double>(end - start) * 1e9 / static_cast<double>(end_ns - start_ns);

  // Step: the least difference of two readings that differ and that is no rarity, as when an interruption moves the
  // counter against its steps.
  constexpr int rows = 200;
  constexpr int readings = 1000;
  constexpr int seldom = rows * readings / 1000;
  std::array<int, 4096> seen{};
  Count last = dse::counter_now();
  for (int k = 0; k != rows * readings; ++k) {
    const Count now = dse::counter_now();
    ++seen[std::min<Count>(now - last, seen.size() - 1)];
    last = now;
  }

  // Cost: readings one after the other, with nothing between them that could wait, the best of many rows.
  double cost = std::numeric_limits<double>::max();
  for (int row = 0; row != rows; ++row) {
    const Count first = dse::counter_now();
    for (int k = 1; k != readings; ++k) {
      static_cast<void>(dse::counter_now());
    }
    cost = std::min(cost, static_cast<double>(dse::counter_now() - first) / readings);
  }
  const auto often = std::find_if(seen.begin() + 1, seen.end(), [](int times) { return times > seldom; });
  const auto step = static_cast<Count>(often == seen.end() ? 1 : often - seen.begin());
  std::printf("{\"kind\": %d, \"hz\": %.1f, \"step\": %llu, \"cost\": %.2f}\n", static_cast<int>(dse::counter_kind), hz,
              static_cast<unsigned long long>(step), cost);
  return 0;
}

// A line that one core writes and the other answers.
struct alignas(64) Ball {
  std::atomic<std::uint64_t> throws{0};
};

int tell_round_trip(int one, int other) {
  constexpr std::uint64_t rounds = 400;
  constexpr int blocks = 20;
  Ball there;
  Ball back;
  Gate gate;
  bool here = false;
  bool pinned = false;
  std::thread answering([&] {
    pinned = dse::pin_to(other);
    gate.meet();
    if (!pinned || !here) {
      return;  // two threads that share a core would take a time slice for each throw
    }
    for (std::uint64_t k = 1; k <= rounds * blocks; ++k) {
      while (there.throws.load(std::memory_order_acquire) != k) {
      }
      back.throws.store(k, std::memory_order_release);
    }
  });
  here = dse::pin_to(one);
  gate.meet();
  if (!pinned || !here) {
    answering.join();
    std::fprintf(stderr, "error: a thread cannot be bound to core %d or %d\n", one, other);
    return 1;
  }
  double best_ns = std::numeric_limits<double>::max();
  std::uint64_t k = 0;
  for (int block = 0; block != blocks; ++block) {
    const std::int64_t start = dse::nanoseconds_now();
    for (std::uint64_t round = 0; round != rounds; ++round) {
      there.throws.store(++k, std::memory_order_release);
      while (back.throws.load(std::memory_order_acquire) != k) {
      }
    }
    best_ns = std::min(best_ns, static_cast<double>(dse::nanoseconds_now() - start) / rounds);
  }
  answering.join();
  std::printf("{\"cores\": [%d, %d], \"round_trip_ns\": %.1f}\n", one, other, best_ns);
  return 0;
}

struct Crossing {
  int writer_core = 0;
  int reader_core = 0;
  int capacity = 512;
  int block = 1;
  int work = 0;  // counts that the writer computes between two blocks: the reader then waits for it
};

// What one end has spent on blocks: the mean of a block, in counts, without the longest hundredth, which interruptions
// made. The counter steps, so that a median would be one of its steps.
class Spent {
 public:
  explicit Spent(std::size_t blocks) { counts_.reserve(blocks); }
  void add(Count counts) { counts_.push_back(counts); }
  double mean() {
    const std::size_t kept = counts_.size() - counts_.size() / 100;
    const auto end = counts_.begin() + static_cast<std::ptrdiff_t>(kept);
    std::nth_element(counts_.begin(), end, counts_.end());
    return std::accumulate(counts_.begin(), end, 0.0) / static_cast<double>(kept);
  }

 private:
  std::vector<Count> counts_;
};

// Where the tokens begin to count: not known when this is compiled, so that they are really moved.
const Count start_value = dse::counter_now();

void compute(int counts) {
  const Count start = dse::counter_now();
  while (dse::counter_now() - start < static_cast<Count>(counts)) {
  }
}

template <class T>
void write_block(dse::Writer<T, 1>& writer, const Crossing& what, Spent& spent) {
  std::array<T, 1024> values;
  for (int k = 0; k != what.block; ++k) {
    values[static_cast<std::size_t>(k)] = static_cast<T>(start_value + static_cast<Count>(k));
  }
  for (;;) {
    const Count start = dse::counter_now();
    writer.refresh();
    if (writer.room() >= what.block) {
      writer.put(values.data(), what.block);
      writer.expose();
      spent.add(dse::counter_now() - start);
      return;
    }
    dse::pause_briefly();
  }
}

template <class T>
void read_block(dse::Reader<T>& reader, const Crossing& what, Spent& spent, Count& sum) {
  std::array<T, 1024> values{};
  for (;;) {
    const Count start = dse::counter_now();
    reader.refresh();
    if (reader.count() >= what.block) {
      reader.copy(values.data(), 0, what.block);
      reader.consume(what.block);
      reader.expose();
      for (int k = 0; k != what.block; ++k) {
        sum += static_cast<Count>(values[static_cast<std::size_t>(k)]);
      }
      spent.add(dse::counter_now() - start);
      return;
    }
    dse::pause_briefly();
  }
}

template <class T>
int tell_crossing(const Crossing& what) {
  constexpr std::size_t blocks = 5'000;
  dse::Fifo<T> fifo(what.capacity, what.writer_core != what.reader_core);
  fifo.crossing = what.writer_core != what.reader_core;
  Spent writing(blocks);
  Spent reading(blocks);
  Count sum = 0;
  Gate gate;
  const auto write = [&] {
    dse::Writer<T, 1> writer(std::array<dse::Channel*, 1>{&fifo});
    dse::pin_to(what.writer_core);
    gate.meet();
    for (std::size_t k = 0; k != blocks; ++k) {
      compute(what.work);
      write_block(writer, what, writing);
    }
  };
  const auto read = [&] {
    dse::Reader<T> reader(&fifo);
    dse::pin_to(what.reader_core);
    gate.meet();
    for (std::size_t k = 0; k != blocks; ++k) {
      read_block(reader, what, reading, sum);
    }
  };
  if (fifo.crossing) {
    std::thread other(write);
    read();
    other.join();
  } else {
    dse::pin_to(what.writer_core);
    dse::Writer<T, 1> writer(std::array<dse::Channel*, 1>{&fifo});
    dse::Reader<T> reader(&fifo);
    for (std::size_t k = 0; k != blocks; ++k) {
      write_block(writer, what, writing);
      read_block(reader, what, reading, sum);
    }
  }
  std::printf("{\"writing\": %.1f, \"reading\": %.1f, \"sum\": %llu}\n", writing.mean(), reading.mean(),
              static_cast<unsigned long long>(sum));
  return 0;
}

bool number(std::string_view text, int least, int most, int& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() && value >= least && value <= most;
}

int usage() {
  std::fprintf(stderr, "usage: probe counter | round-trip CORE CORE | crossing CORE CORE CAPACITY BLOCK BYTES WORK\n");
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string_view> words(argv + 1, argv + argc);
  constexpr int most_cores = 1023;
  if (words.size() == 1 && words[0] == "counter") {
    return tell_counter();
  }
  int one = 0;
  int other = 0;
  if (words.size() < 3 || !number(words[1], 0, most_cores, one) || !number(words[2], 0, most_cores, other)) {
    return usage();
  }
  if (words[0] == "round-trip" && words.size() == 3) {
    return tell_round_trip(one, other);
  }
  Crossing what{.writer_core = one, .reader_core = other};
  int bytes = 0;
  if (words[0] != "crossing" || words.size() != 7 || !number(words[3], 1, 1 << 20, what.capacity) ||
      !number(words[4], 1, std::min(1024, what.capacity), what.block) || !number(words[5], 1, 8, bytes) ||
      !number(words[6], 0, 1 << 20, what.work)) {
    return usage();
  }
  switch (bytes) {
    case 1:
      return tell_crossing<std::uint8_t>(what);
    case 2:
      return tell_crossing<std::int16_t>(what);
    case 4:
      return tell_crossing<std::int32_t>(what);
    case 8:
      return tell_crossing<std::int64_t>(what);
    default:
      return usage();
  }
}
