// Tokens per second through a FIFO between two threads: this runtime's beside rigtorp's SPSCQueue, round by round.
//
// fifo CAPACITY TOKENS ROUNDS FIRST_CORE SECOND_CORE prints "NAME BLOCK TOKENS_PER_SECOND" for each round.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <thread>
#include <vector>

#include "dse/actor.hpp"
#include "dse/machine.hpp"
#include "dse/waiting.hpp"
#include <rigtorp/SPSCQueue.h>

namespace dse {
class Context {};
}  // namespace dse

namespace {

using Token = std::uint32_t;

struct Plan {
  std::int64_t capacity;
  std::int64_t tokens;
  int first_core;
  int second_core;
};

/// An end of a FIFO needs an actor that it belongs to.
class Nobody final : public dse::Actor {
 public:
  explicit Nobody(const dse::Wires& wires) : Actor(wires) { pulse = &pulse_; }
  void start() override {}
  void run(std::int64_t) override {}
  void explain(std::vector<dse::Wait>&) override {}

 private:
  dse::Pulse pulse_;
};

/// Return the seconds in which both sides have done their work, each on its core.
template <class Write, class Read>
double seconds_of(const Plan& plan, Write&& write, Read&& read) {
  std::atomic<int> ready{0};
  const auto together = [&ready](int core) {
    dse::pin_to(core);
    for (ready.fetch_add(1); ready.load() != 2;) {
      dse::pause_briefly();
    }
  };
  std::thread writer([&] {
    together(plan.first_core);
    write();
  });
  double seconds = 0;
  std::thread reader([&] {
    together(plan.second_core);
    const auto start = std::chrono::steady_clock::now();
    read();
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  });
  writer.join();
  reader.join();
  return seconds;
}

void check(std::uint64_t sum, const Plan& plan) {
  const auto n = static_cast<std::uint64_t>(plan.tokens);
  if (sum != n * (n - 1) / 2) {
    std::fprintf(stderr, "tokens were lost\n");
    std::exit(1);
  }
}

/// rigtorp's queue, one token at a time: it has no other way.
double rigtorp_seconds(const Plan& plan) {
  rigtorp::SPSCQueue<Token> queue(static_cast<std::size_t>(plan.capacity));
  std::uint64_t sum = 0;
  const double seconds = seconds_of(
      plan,
      [&] {
        for (std::int64_t k = 0; k != plan.tokens; ++k) {
          while (!queue.try_push(static_cast<Token>(k))) {
          }
        }
      },
      [&] {
        for (std::int64_t k = 0; k != plan.tokens; ++k) {
          while (queue.front() == nullptr) {
          }
          sum += *queue.front();
          queue.pop();
        }
      });
  check(sum, plan);
  return seconds;
}

/// This runtime's FIFO, as two actors on two threads use it whose visits move `block` tokens.
double dse_seconds(const Plan& plan, std::int64_t block) {
  dse::Context context;
  const dse::ActorInfo info = {"nobody", "", nullptr, {}, {}, {}, {}, {}, {}, 0, false};
  Nobody source{dse::Wires(context, info)};
  Nobody target{dse::Wires(context, info)};
  dse::Fifo<Token> fifo(plan.capacity, true);
  fifo.source = &source;
  fifo.target = &target;
  fifo.crossing = true;
  fifo.reader_refill = fifo.writer_refill = block;
  const std::vector<dse::Channel*> channels = {&fifo};
  std::uint64_t sum = 0;
  const double seconds = seconds_of(
      plan,
      [&] {
        dse::Writer<Token, 1> end(channels);
        std::vector<Token> values(static_cast<std::size_t>(block));
        for (std::int64_t k = 0; k != plan.tokens; k += block) {
          for (end.refresh(); end.room() < block; end.refresh()) {
          }
          if (block == 1) {
            end.put(static_cast<Token>(k));
          } else {
            std::iota(values.begin(), values.end(), static_cast<Token>(k));
            end.put(values.data(), block);
          }
          end.publish(source);
        }
      },
      [&] {
        dse::Reader<Token> end(&fifo);
        std::vector<Token> values(static_cast<std::size_t>(block));
        for (std::int64_t k = 0; k != plan.tokens; k += block) {
          for (end.refresh(); end.count() < block; end.refresh()) {
          }
          if (block == 1) {
            sum += end[0];
          } else {
            end.copy(values.data(), 0, block);
            sum = std::accumulate(values.begin(), values.end(), sum);
          }
          end.consume(block);
          end.publish(target);
        }
      });
  check(sum, plan);
  return seconds;
}

void tell(const char* name, std::int64_t block, const Plan& plan, double seconds) {
  std::printf("%s %lld %.0f\n", name, static_cast<long long>(block), static_cast<double>(plan.tokens) / seconds);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) {
    return 2;
  }
  const Plan plan = {std::atoll(argv[1]), std::atoll(argv[2]), std::atoi(argv[4]), std::atoi(argv[5])};
  for (int round = std::atoi(argv[3]); round != 0; --round) {
    tell("rigtorp", 1, plan, rigtorp_seconds(plan));
    for (const std::int64_t block : {1, 16, 64, 256}) {
      tell("dse", block, plan, dse_seconds(plan, block));
    }
  }
  return 0;
}
