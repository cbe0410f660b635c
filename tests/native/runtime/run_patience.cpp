// How long a thread pauses before it looks again: prints the most pauses of a wait, of so many waits each.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>

#include "dse/halt.hpp"
#include "dse/parking.hpp"
#include "dse/waiting.hpp"

namespace {

dse::Parking parking;
dse::Halt halt;

/// Return the most pauses of the first wait of each time out of work.
std::int64_t longest(dse::Patience& patience, int times) {
  std::int64_t most = 0;
  for (int k = 0; k != times; ++k) {
    const std::int64_t before = patience.counts.pauses;
    patience.wait();
    most = std::max(most, patience.counts.pauses - before);
    patience.reset();
  }
  return most;
}

void alone() {
  dse::Patience patience(parking, halt, false);
  std::printf("%ld\n", static_cast<long>(longest(patience, 1000)));
}

void beside_workers() {
  std::atomic<std::uint64_t> one{0};
  std::atomic<std::uint64_t> other{5};
  dse::Patience patience(parking, halt, false);
  patience.peers.add(one);
  patience.peers.add(other);
  const std::int64_t at_first = longest(patience, 31);
  const std::int64_t later = longest(patience, 1000);
  other = 6;  // it has run out of work
  const std::int64_t in_haste = longest(patience, 20);
  std::printf("%ld %ld %ld\n", static_cast<long>(at_first), static_cast<long>(later), static_cast<long>(in_haste));
}

/// A peer runs out of work during the waits of a patient thread.
void called() {
  std::atomic<std::uint64_t> waits{0};
  std::atomic<bool> ready{false};
  dse::Patience patience(parking, halt, false);
  patience.peers.add(waits);
  std::thread peer([&] {
    while (!ready) {
    }
    for (int k = 0; k != 1'000'000; ++k) {
      waits.fetch_add(1, std::memory_order_relaxed);
    }
    ready = false;
  });
  longest(patience, 1000);
  ready = true;
  while (ready) {
    longest(patience, 1);
  }
  peer.join();
  ++waits;
  std::printf("%ld\n", static_cast<long>(longest(patience, 1)));
}

/// For how long a thread has waited is 0 up to its second wait, and again when it has found work.
void waited() {
  dse::Patience patience(parking, halt, false);
  bool none = patience.waited_ns() == 0;
  for (int k = 0; k != 3; ++k) {
    patience.wait();
    const std::int64_t first = patience.waited_ns();
    while (patience.waited_ns() < 20'000) {
      patience.wait();
    }
    patience.reset();
    none = none && first < 20'000 && patience.waited_ns() == 0;
  }
  std::printf("%d\n", none ? 1 : 0);
}

}  // namespace

int main(int, char** argv) {
  const std::string name = argv[1];
  name == "alone" ? alone() : name == "called" ? called() : name == "waited" ? waited() : beside_workers();
}
