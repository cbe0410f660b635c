// Runs the network of fan.hpp and prints what it did, one fact a line: run_fan fan|idle FIFO_TOKENS MAX_FIRINGS [MAPPING [RAW]]
//
// MAPPING: POLICY:CORES:ACTOR,ACTOR,... for each partition, with a slash between partitions, and :ACTOR,... for an order; - for none
// RAW: file of records; the firings of sink.four are timed singly
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#if OWN_ENGINE
#include "dse/engine_bodies.hpp"
#else
#include "dse/engine.hpp"
#endif
#include "fan.hpp"

namespace dse {
class Context {};
}  // namespace dse

namespace {

/// Keeps the whole trace.
class Memory final : public dse::TraceSink {
 public:
  explicit Memory(std::size_t actors) : ids(actors) {}
  void take(int actor, std::span<const dse::NarrowId> taken) override { add(actor, taken); }
  void take(int actor, std::span<const dse::WideId> taken) override { add(actor, taken); }
  std::vector<std::vector<int>> ids;

 private:
  template <class Taken>
  void add(int actor, const Taken& taken) {
    ids[static_cast<std::size_t>(actor)].insert(ids[static_cast<std::size_t>(actor)].end(), taken.begin(), taken.end());
  }
};

void print_list(const char* name, const auto& numbers) {
  std::printf("%s", name);
  for (const auto number : numbers) {
    std::printf(" %lld", static_cast<long long>(number));
  }
  std::printf("\n");
}

void print(const dse::RunResult& result, const Memory& memory) {
  std::printf("why %s\n", dse::why_text(result.why));
  for (std::size_t a = 0; a != memory.ids.size(); ++a) {
    print_list("actions", result.actions[a]);
    print_list("trace", memory.ids[a]);
  }
  for (const dse::ChannelResult& channel : result.channels) {
    std::printf("channel %lld %lld %llu\n", static_cast<long long>(channel.tokens), static_cast<long long>(channel.left),
                static_cast<unsigned long long>(channel.hash));
  }
  for (const dse::Wait& wait : result.waits) {
    std::printf("wait %d %d %d %d %lld %lld", wait.actor, wait.action, static_cast<int>(wait.kind), wait.port,
                static_cast<long long>(wait.have), static_cast<long long>(wait.need));
    print_list("", wait.peers);
  }
  if (result.deadlock) {
    std::printf("deadlock %d %lld %lld", result.deadlock->connection,
                static_cast<long long>(result.deadlock->capacity_tokens),
                static_cast<long long>(result.deadlock->needed_tokens));
    print_list("", result.deadlock->actors);
  }
  if (!result.wrong_order.empty()) {
    std::printf("%s\n", result.wrong_order.c_str());
  }
  print_list("tail", result.idle_tail);
}

/// Return the pieces of a text between separators.
std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> pieces;
  std::stringstream stream(text);
  for (std::string piece; std::getline(stream, piece, separator);) {
    pieces.push_back(piece);
  }
  return pieces;
}

std::vector<int> numbers(const std::string& text) {
  std::vector<int> found;
  for (const std::string& piece : split(text, ',')) {
    found.push_back(std::stoi(piece));
  }
  return found;
}

dse::Mapping mapping_of(const std::string& text) {
  dse::Mapping mapping;
  for (const std::string& piece : split(text, '/')) {
    const std::vector<std::string> fields = split(piece, ':');
    dse::Partition partition;
    partition.name = "p" + std::to_string(mapping.partitions.size());
    partition.policy = static_cast<dse::Policy>(std::stoi(fields[0]));
    partition.cores = std::stoi(fields[1]);
    partition.actors = numbers(fields[2]);
    partition.order = fields.size() > 3 ? numbers(fields[3]) : std::vector<int>{};
    mapping.partitions.push_back(partition);
  }
  return mapping;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4 || argc > 7) {
    return 2;
  }
  const bool idles = std::string_view(argv[1]) == "idle";
  dse::RunOptions options;
  options.fifo_tokens = std::atoll(argv[2]);
  options.hash_channels = true;
  if (std::atoll(argv[3]) != 0) {
    options.max_firings = std::atoll(argv[3]);
  }
  if (argc > 5) {
    options.raw = argv[5];
    options.singly = {{3, 0}};
  }
  if (argc > 6) {
    options.raw_every = static_cast<std::uint64_t>(std::atoll(argv[6]));
  }
  if (argc > 4 && std::string_view(argv[4]) != "-") {
    options.mapping = mapping_of(argv[4]);
  }
  dse::Context context;
  const dse::NetworkInfo& network = idles ? fan::network<true> : fan::network<false>;
  Memory memory(network.actors.size());
  print(dse::run_network(network, {.options = options, .context = context, .sink = &memory}), memory);
  return 0;
}
