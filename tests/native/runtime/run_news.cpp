// When an actor is asked again that could not fire, and with which one a search begins.
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "dse/actor.hpp"
#include "dse/fifo.hpp"
#include "dse/policies.hpp"

namespace {

constexpr std::int64_t capacity = 8;
constexpr std::int64_t plenty = 4;

void say(bool value) { std::printf("%d ", static_cast<int>(value)); }

/// A FIFO, and what its ends learn of each other.
struct Pair {
  explicit Pair(bool crossing) : fifo(capacity, crossing), reader(&fifo), writer(std::vector<dse::Channel*>{&fifo}) {
    fifo.crossing = crossing;
    if (crossing) {
      fifo.reader_refill = fifo.writer_refill = plenty;
    }
    writer.refresh();
  }
  void write(int tokens) {
    for (int k = 0; k != tokens; ++k) {
      writer.put(k);
    }
    writer.expose();
  }
  void read(int tokens) {
    reader.consume(tokens);
    reader.expose();
  }
  dse::Fifo<int> fifo;
  dse::Reader<int> reader;
  dse::Writer<int, 1> writer;
};

/// Tokens are news until they are known, and none where plenty are known.
void tokens(bool crossing) {
  Pair pair(crossing);
  say(pair.reader.news(false));
  pair.write(1);
  say(pair.reader.news(false));
  pair.reader.refresh();
  say(pair.reader.news(false));
  pair.write(plenty);
  say(pair.reader.news(false));
  pair.reader.refresh();
  pair.write(1);
  say(pair.reader.news(false));
}

/// Room is news for who lacks it, until it is known.
void room(bool crossing) {
  Pair pair(crossing);
  pair.write(capacity);
  pair.reader.refresh();
  say(pair.writer.news(true));
  pair.read(2);
  say(pair.writer.news(false));
  say(pair.writer.news(true));
  pair.writer.refresh();
  say(pair.writer.news(true));
  pair.read(2);
  say(pair.writer.news(true));
  pair.writer.refresh();
  pair.read(2);
  say(pair.writer.news(true));
}

/// Says which places are visited; those in `ready` fire once.
class Told final : public dse::Visitor {
 public:
  std::vector<std::size_t> ready;
  std::int64_t visit(std::size_t place, std::int64_t) override {
    std::printf("%zu ", place);
    for (std::size_t& one : ready) {
      if (one == place) {
        one = none;
        return 1;
      }
    }
    return 0;
  }
  std::int64_t visit_patiently(std::size_t place, std::int64_t budget) override { return visit(place, budget); }
  bool moved() const override { return true; }
  bool may_go_on() const override { return false; }
  bool has_ended(std::size_t) const override { return false; }

 private:
  static constexpr std::size_t none = 99;
};

/// Passes over three actors: two at work, none, none, the first, none.
void search() {
  dse::Partition partition;
  partition.policy = dse::Policy::non_preemptive;
  partition.cores = 1;
  dse::Team team(partition, 0);
  for (int k = 0; k != 3; ++k) {
    team.members.emplace_back();
  }
  const auto chooser = dse::make_chooser(team);
  Told told;
  for (const std::vector<std::size_t>& ready : {std::vector<std::size_t>{0, 1}, {}, {}, {0}, {}, {}}) {
    told.ready = ready;
    chooser->pass(told);
    std::printf("| ");
  }
}

}  // namespace

int main(int, char** argv) {
  const std::string what = argv[1];
  const bool crossing = argv[2] == std::string("crossing");
  what == "tokens" ? tokens(crossing) : what == "room" ? room(crossing) : search();
  std::printf("\n");
  return 0;
}
