// Small networks of two or three actors that end in a certain way: run_cases CASE THREADS FIFO_TOKENS [deaf]
//
// deaf: who is told of the progress of the run throws
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <map>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "dse/actor.hpp"
#include "dse/engine.hpp"
#include "dse/ends_apart.hpp"

namespace dse {
class Context {};
}  // namespace dse

namespace {

using dse::Condition;
using dse::Wait;
using dse::WaitKind;
using dse::Wires;

/// Writes a token to A, then one to B, in each firing; `act` comes before the tokens of a firing.
class Feeder : public dse::Actor {
 public:
  Feeder(const Wires& wires, std::int64_t last, std::function<void(std::int64_t)> act = {})
      : Actor(wires), ports_(wires), last_(last), act_(std::move(act)) {}
  void start() override {}
  void run(std::int64_t budget) override {
    dse::Visit<Ports> visit(*this, ports_);
    Ports& p = visit.ports;
    for (; budget != 0; --budget) {
      if (made_ == last_) {
        return;
      }
      if (p.a.room() < 1 || p.b.room() < 1) {
        visit.outcome = Condition::lacks_room;
        return;
      }
      if (act_) {
        at(0);
        act_(made_);
      }
      ++made_;
      p.a.put(1);
      p.b.put(1);
      visit.fired(0);
    }
    visit.outcome = Condition::ready;
  }
  void explain(std::vector<Wait>& waits) override { waits.push_back({.action = 0, .kind = WaitKind::guard}); }

 private:
  struct Ports {
    explicit Ports(const Wires& wires) : a(wires.outputs[0]), b(wires.outputs[1]) {}
    template <class Do>
    void each(Do&& act) {
      act(a);
      act(b);
    }
    dse::Writer<int, 1> a;
    dse::Writer<int, 1> b;
  };
  Ports ports_;
  const std::int64_t last_;
  std::int64_t made_ = 0;
  const std::function<void(std::int64_t)> act_;
};

/// Takes a token from each input; where A has none, takes one from B alone. `between` comes between the two guards.
class Picker : public dse::Actor {
 public:
  Picker(const Wires& wires, bool looks_again, std::function<void()> between = {})
      : Actor(wires), ports_(wires), looks_again_(looks_again), between_(std::move(between)) {}
  void start() override {}
  void run(std::int64_t budget) override {
    dse::Visit<Ports> visit(*this, ports_);
    Ports& p = visit.ports;
    for (; budget != 0; --budget) {
      if (p.a.count() >= 1 && p.b.count() >= 1) {
        p.a.consume(1);
        p.b.consume(1);
        visit.fired(0);
        continue;
      }
      if (between_) {
        between_();
      }
      if (looks_again_) {
        p.b.refresh();
      }
      if (p.b.count() >= 1) {
        p.b.consume(1);
        visit.fired(1);
        continue;
      }
      return;
    }
    visit.outcome = Condition::ready;
  }
  void explain(std::vector<Wait>& waits) override {
    waits.push_back({.action = 0, .kind = WaitKind::tokens, .port = 0, .have = 0, .need = 1});
  }

 private:
  struct Ports {
    explicit Ports(const Wires& wires) : a(wires.inputs[0]), b(wires.inputs[1]) {}
    template <class Do>
    void each(Do&& act) {
      act(a);
      act(b);
    }
    dse::Reader<int> a;
    dse::Reader<int> b;
  };
  Ports ports_;
  const bool looks_again_;
  const std::function<void()> between_;
};

/// Writes ten tokens to A, then ten to B, each in a firing of its own.
class InTurn final : public dse::Actor {
 public:
  explicit InTurn(const Wires& wires) : Actor(wires), a_(wires.outputs[0]), b_(wires.outputs[1]) {}
  void start() override {}
  void run(std::int64_t budget) override {
    Ends home{a_, b_};
    {
      dse::Visit<Ends> visit(*this, home);
      for (; budget != 0 && made_ != 20; --budget) {
        auto& end = made_ < 10 ? visit.ports.a : visit.ports.b;
        if (end.room() < 1) {
          visit.outcome = Condition::lacks_room;
          break;
        }
        ++made_;
        end.put(1);
        visit.fired(0);
      }
      if (budget == 0) {
        visit.outcome = Condition::ready;
      }
    }
    a_ = home.a;
    b_ = home.b;
  }
  void explain(std::vector<Wait>& waits) override {
    if (made_ == 20) {
      waits.push_back({.action = 0, .kind = WaitKind::guard});
      return;
    }
    const int port = made_ < 10 ? 0 : 1;
    dse::Writer<int, 1> end = port == 0 ? a_ : b_;
    end.refresh();
    if (end.room() < 1) {
      waits.push_back({.action = 0, .kind = WaitKind::room, .port = port, .have = end.room(), .need = 1});
    }
  }

 private:
  struct Ends {
    template <class Do>
    void each(Do&& act) {
      act(a);
      act(b);
    }
    dse::Writer<int, 1> a;
    dse::Writer<int, 1> b;
  };
  dse::Writer<int, 1> a_;
  dse::Writer<int, 1> b_;
  int made_ = 0;
};

/// Makes many firings without tokens, then a long one that writes a token to each output.
class Late final : public dse::Actor {
 public:
  explicit Late(const Wires& wires) : Actor(wires), ports_(wires) {}
  void start() override {}
  void run(std::int64_t budget) override {
    dse::Visit<Ports> visit(*this, ports_);
    for (; budget != 0; --budget) {
      if (made_ > idle_firings) {
        return;
      }
      if (made_ == idle_firings) {
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        visit.ports.a.put(1);
        visit.ports.b.put(1);
      }
      ++made_;
      visit.fired(0);
    }
    visit.outcome = Condition::ready;
  }
  void explain(std::vector<Wait>& waits) override { waits.push_back({.action = 0, .kind = WaitKind::guard}); }

 private:
  static constexpr int idle_firings = 40000;

  struct Ports {
    explicit Ports(const Wires& wires) : a(wires.outputs[0]), b(wires.outputs[1]) {}
    template <class Do>
    void each(Do&& act) {
      act(a);
      act(b);
    }
    dse::Writer<int, 1> a;
    dse::Writer<int, 1> b;
  };
  Ports ports_;
  int made_ = 0;
};

/// Takes a token from each input together; `act` comes with each of these firings. A restless one fires without them.
class Joiner final : public dse::Actor {
 public:
  explicit Joiner(const Wires& wires, bool restless = false, std::function<void()> act = {})
      : Actor(wires), ports_(wires), restless_(restless), act_(std::move(act)) {}
  void start() override {}
  void run(std::int64_t budget) override {
    dse::Visit<Ports> visit(*this, ports_);
    for (; budget != 0; --budget) {
      if (visit.ports.a.count() >= 1 && visit.ports.b.count() >= 1) {
        visit.ports.a.consume(1);
        visit.ports.b.consume(1);
        if (act_) {
          act_();
        }
        visit.fired(0);
      } else if (restless_) {
        visit.fired(1);
      } else {
        return;
      }
    }
    visit.outcome = Condition::ready;
  }
  void explain(std::vector<Wait>& waits) override {
    Ports p = ports_;
    p.each([](auto& port) { port.refresh(); });
    const int port = p.a.count() < 1 ? 0 : 1;
    waits.push_back({.action = 0, .kind = WaitKind::tokens, .port = port, .have = 0, .need = 1});
  }

 private:
  struct Ports {
    explicit Ports(const Wires& wires) : a(wires.inputs[0]), b(wires.inputs[1]) {}
    template <class Do>
    void each(Do&& act) {
      act(a);
      act(b);
    }
    dse::Reader<int> a;
    dse::Reader<int> b;
  };
  Ports ports_;
  const bool restless_;
  const std::function<void()> act_;
};

// Cases ----------------------------------------------------------------------------------------------------------------

constexpr std::int64_t without_end = 1LL << 60;

std::atomic<int> turn{0};  // of the forced race: 0 nobody, 1 the writer may write, 2 it has written

void wait_for_turn(int wanted) {
  while (turn.load() != wanted) {
    std::this_thread::yield();
  }
}

/// Writes once, when the reader stands between its two guards.
class GatedFeeder final : public Feeder {
 public:
  explicit GatedFeeder(const Wires& wires) : Feeder(wires, 1) {}
  void run(std::int64_t budget) override {
    if (!done_) {
      wait_for_turn(1);
    }
    Feeder::run(budget);
    if (!done_) {
      turn.store(2);
      done_ = true;
    }
  }

 private:
  bool done_ = false;
};

void let_the_writer_write() {
  if (turn.load() == 0) {
    turn.store(1);
    wait_for_turn(2);
  }
}

void fail_at(std::int64_t made, std::int64_t last, const std::function<void()>& fail) {
  if (made == last) {
    fail();
  }
}

dse::Actor* failing(const Wires& wires, const std::function<void()>& fail) {
  return new Feeder(wires, without_end, [fail](std::int64_t made) { fail_at(made, 5000, fail); });
}

using Maker = dse::Actor* (*)(const Wires&);

const std::map<std::string, std::pair<Maker, Maker>> cases = {
    {"race", {[](const Wires& w) -> dse::Actor* { return new GatedFeeder(w); },
              [](const Wires& w) -> dse::Actor* {
                return new Picker(w, false, let_the_writer_write);
              }}},
    {"race_looking_again", {[](const Wires& w) -> dse::Actor* { return new GatedFeeder(w); },
                            [](const Wires& w) -> dse::Actor* {
                              return new Picker(w, true, let_the_writer_write);
                            }}},
    {"stream", {[](const Wires& w) -> dse::Actor* { return new Feeder(w, 300000); },
                [](const Wires& w) -> dse::Actor* { return new Picker(w, false); }}},
    {"deadlock", {[](const Wires& w) -> dse::Actor* { return new InTurn(w); },
                  [](const Wires& w) -> dse::Actor* { return new Joiner(w); }}},
    {"fault", {[](const Wires& w) { return failing(w, [] { throw dse::Fault("division by zero"); }); },
               [](const Wires& w) -> dse::Actor* { return new Joiner(w); }}},
    {"exit", {[](const Wires& w) { return failing(w, [] { throw dse::ProgramExit{7, false}; }); },
              [](const Wires& w) -> dse::Actor* { return new Joiner(w); }}},
    {"source", {[](const Wires& w) { return failing(w, [] { throw dse::SourceExhausted(); }); },
                [](const Wires& w) -> dse::Actor* { return new Joiner(w); }}},
    {"memory", {[](const Wires& w) { return failing(w, [] { throw std::bad_alloc(); }); },
                [](const Wires& w) -> dse::Actor* { return new Joiner(w); }}},
    {"late", {[](const Wires& w) -> dse::Actor* { return new Late(w); },
              [](const Wires& w) -> dse::Actor* { return new Joiner(w, true); }}},
    {"quitter", {[](const Wires& w) -> dse::Actor* { return new Feeder(w, 5); },
                 [](const Wires& w) -> dse::Actor* {
                   return new Joiner(w, false, [] { throw dse::ProgramExit{7, false}; });
                 }}},
    {"endless", {[](const Wires& w) -> dse::Actor* { return new Feeder(w, without_end); },
                 [](const Wires& w) -> dse::Actor* { return new Joiner(w); }}},
    {"storage", {[](const Wires& w) -> dse::Actor* { return new Feeder(w, without_end); },
                 [](const Wires& w) -> dse::Actor* { return new Joiner(w); }}},
    {"initial", {[](const Wires&) -> dse::Actor* { throw dse::Fault("division by zero", 0); },
                 [](const Wires& w) -> dse::Actor* { return new Joiner(w); }}},
};

constexpr const char* port_names[] = {"A", "B"};
constexpr dse::ActionInfo actions[] = {{"both", true, false}, {"alone", true, false}};
constexpr dse::Site sites[] = {{"Writer.cal", 7, 3, 7, 9, ""}};
constexpr dse::OwnerInfo owners[] = {{"other", {"Writer.cal", 1, 1, 5, 4, ""}}, {"both", {"Writer.cal", 6, 1, 9, 4, ""}}};

int run(const std::string& name, const std::string& threads, std::int64_t fifo_tokens, bool deaf) {
  const auto& [writer, reader] = cases.at(name);
  const dse::ActorInfo actors[] = {
      {"writer", "Writer", writer, actions, {}, port_names, sites, owners, {"Writer.cal", 1, 1, 9, 4, ""}, 0, false},
      {"reader", "Reader", reader, actions, port_names, {}, {}, {}, {}, 0, false}};
  const dse::ConnectionInfo connections[] = {{"writer.A->reader.A", 0, 0, 1, 0, &dse::make_fifo<int>, 0, 1},
                                             {"writer.B->reader.B", 0, 1, 1, 1, &dse::make_fifo<int>, 0, 1}};
  const dse::NetworkInfo network = {"cases", actors, connections};
  dse::RunOptions options;
  options.fifo_tokens = fifo_tokens;
  if (threads == "static") {  // the reader's turn comes first
    options.mapping.partitions = {{"p0", dse::Policy::static_order, 1, {0, 1}, {1, 0}}};
  } else if (threads != "1") {
    const dse::Policy policy = threads == "nonpreemptive" ? dse::Policy::non_preemptive : dse::Policy::round_robin;
    options.mapping.partitions = {{"p0", policy, 1, {0}, {}}, {"p1", policy, 1, {1}, {}}};
  }
  dse::Context context;
  if (name == "storage") {
    const bool apart = dse::ends_apart(network, options.mapping)[0];
    std::printf("%llu\n", static_cast<unsigned long long>(dse::Fifo<int>::size_for(fifo_tokens, apart)));
    return 0;
  }
  const dse::Progress progress = [deaf](std::int64_t) {
    if (deaf) {
      throw std::runtime_error("nobody listens");
    }
  };
  const dse::RunResult result =
      dse::run_network(network, {.options = options, .context = context, .progress = progress});
  std::printf("%s %d %lld %lld %lld\n", dse::why_text(result.why), result.exit_code,
              static_cast<long long>(result.actions[0][0]), static_cast<long long>(result.actions[1][0]),
              static_cast<long long>(result.actions[1][1]));
  if (result.deadlock) {
    std::printf("deadlock in %d of %lld, needs %lld\n", result.deadlock->connection,
                static_cast<long long>(result.deadlock->capacity_tokens),
                static_cast<long long>(result.deadlock->needed_tokens));
  }
  if (!result.wrong_order.empty()) {
    std::printf("%s\n", result.wrong_order.c_str());
  }
  return dse::actor_at_work == nullptr ? 0 : 3;  // what is printed from now on is no actor's
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4 || argc > 5) {
    return 2;
  }
  try {
    return run(argv[1], argv[2], std::atoll(argv[3]), argc == 5);
  } catch (const dse::RunError& error) {
    std::printf("%s:%d: %s\n", error.place.path, error.place.line, error.what());
    return 1;
  } catch (const dse::Interrupted& interrupt) {
    std::printf("%s\n", interrupt.what());
    return 128 + interrupt.signal;
  } catch (const std::exception& error) {
    std::printf("%s\n", error.what());
    return 1;
  }
}
