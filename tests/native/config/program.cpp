// Whole programs of small networks, the first argument says of which: `fan` and `idle` of ../runtime/fan.hpp, `wide` of
// an actor with many actions, and one for each trouble that an actor can make. `readers` answers as readers.hpp says,
// where they are compiled too (READERS).
#include <array>
#include <csignal>
#include <cstdlib>
#include <map>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "../runtime/fan.hpp"
#include "dse/context.hpp"
#include "dse/program.hpp"
#if READERS
#include "readers.hpp"
#endif

namespace {

/// An actor without ports that fires for ever and does `Deed` each time.
template <class Deed>
class Loner final : public dse::Actor {
 public:
  explicit Loner(const dse::Wires& wires) : Actor(wires) {}
  void start() override {}
  void run(std::int64_t budget) override {
    dse::Visit<Ports, dse::WideId> visit(*this, ports_);
    visit.outcome = dse::Condition::ready;
    for (; budget != 0; --budget) {
      visit.fired(static_cast<int>(count_ % 300));
      Deed::act(*this, count_++);
    }
  }
  void explain(std::vector<dse::Wait>&) override {}

 private:
  struct Ports {
    template <class Do>
    void each(Do&&) {}
  };
  Ports ports_;
  std::int64_t count_ = 0;
};

/// An actor without ports whose only guard is false.
class Starved final : public dse::Actor {
 public:
  explicit Starved(const dse::Wires& wires) : Actor(wires) {}
  void start() override {}
  void run(std::int64_t) override {
    dse::Visit<Ports, dse::WideId> visit(*this, ports_);
    visit.outcome = dse::Condition::waits;
  }
  void explain(std::vector<dse::Wait>& waits) override {
    waits.push_back({.action = 0, .kind = dse::WaitKind::guard});
  }

 private:
  struct Ports {
    template <class Do>
    void each(Do&&) {}
  };
  Ports ports_;
};

struct Nothing {
  static void act(dse::Actor&, std::int64_t) {}
};
struct Segfault {
  static void act(dse::Actor&, std::int64_t) { std::raise(SIGSEGV); }
};
struct Abort {
  static void act(dse::Actor&, std::int64_t) { std::abort(); }
};
struct Overflow {
  static int deeper(const volatile char* above) {
    volatile char here[4096];
    here[0] = *above;
    const int below = here[0] == 0 ? 0 : deeper(here);  // never 0, which the compiler cannot know
    return below + here[0];
  }
  static void act(dse::Actor&, std::int64_t) {
    const volatile char first = 1;
    deeper(&first);
  }
};
struct Hungry {
  static void act(dse::Actor&, std::int64_t) {
    static std::vector<std::vector<char>> kept;
    kept.emplace_back(std::size_t{8} << 20, 'x');
  }
};
struct Divide {
  static void act(dse::Actor& actor, std::int64_t count) {
    actor.stray(0);
    if (count == 7) {
      throw dse::Fault("division by zero", 0);
    }
  }
};
struct Stray {
  static void act(dse::Actor& actor, std::int64_t count) {
    actor.stray(0);
    if (count == 7) {
      throw dse::ProgramExit{5, false};
    }
  }
};
struct Refuse {
  static void act(dse::Actor&, std::int64_t) { throw dse::InputRefused("this is no \x1b[31mpicture", "take another"); }
};
struct Print {
  static void act(dse::Actor& actor, std::int64_t count) {
    actor.context.output("line " + std::to_string(count) + " \x1b[31m\xC3\xA9\n");
  }
};

template <class Deed>
dse::Actor* make(const dse::Wires& wires) {
  return new Loner<Deed>(wires);
}

constexpr std::array<dse::ActionInfo, 300> actions = [] {
  std::array<dse::ActionInfo, 300> result{};
  result.fill({"act", false, false});
  return result;
}();
constexpr dse::Site sites[] = {{"Loner.cal", 3, 5, 3, 9, "list"}};
constexpr dse::OwnerInfo owners[] = {{"act", {"Loner.cal", 2, 1, 4, 1, ""}}};

template <class Deed>
constexpr dse::ActorInfo loner[] = {
    {"lon\xC3\xA9r\x1b", "Loner", &make<Deed>, actions, {}, {}, sites, owners, {}, 0, false}};
template <class Deed>
constexpr dse::NetworkInfo network = {"lonely", loner<Deed>, {}};

dse::Actor* make_starved(const dse::Wires& wires) { return new Starved(wires); }
constexpr dse::ActorInfo starving[] = {
    {"hollow", "Starved", &make_starved, actions, {}, {}, sites, owners, {}, 0, false}};
constexpr dse::NetworkInfo starved = {"starved", starving, {}};

}  // namespace

int main(int argc, char** argv) {
#if READERS
  if (argc > 1 && std::string_view(argv[1]) == "readers") {
    return readers::serve();
  }
#endif
  const std::map<std::string_view, const dse::NetworkInfo*> networks = {
      {"fan", &fan::network<false>},     {"idle", &fan::network<true>},    {"wide", &network<Nothing>},
      {"segfault", &network<Segfault>},  {"abort", &network<Abort>},       {"overflow", &network<Overflow>},
      {"hungry", &network<Hungry>},      {"divide", &network<Divide>},     {"stray", &network<Stray>},
      {"refuse", &network<Refuse>},      {"print", &network<Print>},
      {"starved", &starved}};
  const auto found = networks.find(argc > 1 ? argv[1] : "");
  return found == networks.end() ? 99 : dse::main(argc - 1, argv + 1, *found->second);
}
