// A chain of 16 actors on one thread, and on as many threads as partitions are asked for.
//
// partitions POLICY FIFO_TOKENS TOKENS WORK ROUNDS prints "PARTITIONS NANOSECONDS" for 1, 2, 4 and 16 in each round;
// a firing makes WORK steps of a generator of random numbers.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "dse/actor.hpp"
#include "dse/engine_bodies.hpp"

namespace dse {
class Context {};
}  // namespace dse

namespace {

constexpr int stages = 16;
std::int64_t most_tokens = 0;
int work = 0;

std::uint64_t worked(std::uint64_t value) {
  for (int k = 0; k != work; ++k) {
    value = value * 6364136223846793005U + 1442695040888963407U;
  }
  return value;
}

/// Ports of a stage; the first has no input, the last no output.
template <bool reads, bool writes>
struct Ports;

template <>
struct Ports<false, true> {
  explicit Ports(const dse::Wires& wires) : out(wires.outputs[0]) {}
  template <class Do>
  void each(Do&& act) {
    act(out);
  }
  dse::Writer<std::uint64_t, 1> out;
};

template <>
struct Ports<true, false> {
  explicit Ports(const dse::Wires& wires) : in(wires.inputs[0]) {}
  template <class Do>
  void each(Do&& act) {
    act(in);
  }
  dse::Reader<std::uint64_t> in;
};

template <>
struct Ports<true, true> {
  explicit Ports(const dse::Wires& wires) : in(wires.inputs[0]), out(wires.outputs[0]) {}
  template <class Do>
  void each(Do&& act) {
    act(in);
    act(out);
  }
  dse::Reader<std::uint64_t> in;
  dse::Writer<std::uint64_t, 1> out;
};

template <bool reads, bool writes>
class Stage final : public dse::Actor {
 public:
  explicit Stage(const dse::Wires& wires) : Actor(wires), ports_(wires) {}
  void start() override {}
  void run(std::int64_t budget) override {
    dse::Visit<Ports<reads, writes>> visit(*this, ports_);
    for (; budget != 0; --budget) {
      if (!can_fire(visit)) {
        return;
      }
      fire(visit.ports);
      visit.fired(0);
    }
    visit.outcome = dse::Condition::ready;
  }
  void explain(std::vector<dse::Wait>&) override {}

 private:
  bool can_fire(dse::Visit<Ports<reads, writes>>& visit) {
    if constexpr (reads) {
      if (visit.ports.in.count() < 1) {
        return false;
      }
    } else if (made_ == most_tokens) {
      return false;
    }
    if constexpr (writes) {
      if (visit.ports.out.room() < 1) {
        visit.outcome = dse::Condition::lacks_room;
        return false;
      }
    }
    return true;
  }

  void fire(Ports<reads, writes>& ports) {
    std::uint64_t value = static_cast<std::uint64_t>(made_++);
    if constexpr (reads) {
      value = ports.in[0];
      ports.in.consume(1);
    }
    value = worked(value);
    if constexpr (writes) {
      ports.out.put(value);
    } else {
      sum_ += value;
    }
  }

  Ports<reads, writes> ports_;
  std::int64_t made_ = 0;
  std::uint64_t sum_ = 0;
};

template <bool reads, bool writes>
dse::Actor* make(const dse::Wires& wires) {
  return new Stage<reads, writes>(wires);
}

constexpr const char* port_names[] = {"port"};
constexpr dse::ActionInfo actions[] = {{"fire", true, false}};

std::int64_t run_ns(int partitions, dse::Policy policy, std::int64_t fifo_tokens) {
  std::vector<dse::ActorInfo> actors;
  std::vector<dse::ConnectionInfo> connections;
  for (int k = 0; k != stages; ++k) {
    const auto maker = k == 0 ? &make<false, true> : k == stages - 1 ? &make<true, false> : &make<true, true>;
    actors.push_back({"stage", "Stage", maker, actions, port_names, port_names, {}, {}, {}, 0, false});
    if (k != 0) {
      connections.push_back({"fifo", k - 1, 0, k, 0, &dse::make_fifo<std::uint64_t>, 0, 1});
    }
  }
  dse::RunOptions options;
  options.fifo_tokens = fifo_tokens;
  for (int p = 0; partitions != 1 && p != partitions; ++p) {
    dse::Partition partition{"p", policy, 1, {}, {}};
    for (int k = p * stages / partitions; k != (p + 1) * stages / partitions; ++k) {
      partition.actors.push_back(k);
    }
    options.mapping.partitions.push_back(partition);
  }
  dse::Context context;
  return dse::run_network({"chain", actors, connections}, {.options = options, .context = context}).run_ns;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) {
    return 2;
  }
  most_tokens = std::atoll(argv[3]);
  work = std::atoi(argv[4]);
  for (int round = std::atoi(argv[5]); round != 0; --round) {
    for (const int partitions : {1, 2, 4, 16}) {
      const std::int64_t ns = run_ns(partitions, static_cast<dse::Policy>(std::atoi(argv[1])), std::atoll(argv[2]));
      std::printf("%d %lld\n", partitions, static_cast<long long>(ns));
    }
  }
  return 0;
}
