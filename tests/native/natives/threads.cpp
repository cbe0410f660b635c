// Natives called by several threads at once, as actors of several partitions do. Arguments: folder of the network, the
// input, the output. Prints what the threads print, each part that comes at once between bars.
#include <array>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "dse/at_work.hpp"
#include "dse/context.hpp"
#include "dse/natives/bodies.hpp"

namespace {

constexpr int rounds = 200;

dse::View<std::uint8_t, 1> view_of(std::vector<std::uint8_t>& data) {
  return {data.data(), {static_cast<std::int64_t>(data.size())}};
}

/// A source: reads and counts loops.
void read_input(dse::Context& context) {
  std::vector<std::uint8_t> data(64);
  auto& source = context.natives.source;
  source.init();
  for (int k = 0; k < rounds; ++k) {
    source.rewind();
    source.read(view_of(data), source.size() < 64 ? source.size() : 64);
    source.read_byte();
    if (!source.loops_reached()) source.decrement_loops();
    source.exit(0);
  }
}

/// A display: shows and compares pictures.
void show(dse::Context& context) {
  std::vector<std::uint8_t> data(16, 7);
  auto& picture = context.natives.picture;
  for (int k = 0; k < rounds; ++k) {
    picture.start(4, 1, 1);
    picture.line(view_of(data));
    picture.end();
    context.natives.display.show_gray(4, 4, view_of(data), view_of(data));
    context.natives.compare.byte(k);
  }
}

/// A program with files of its own.
void use_files(dse::Context& context, const std::string& name) {
  auto& files = context.natives.access_file;
  std::vector<std::uint8_t> data(16, 7);
  for (int k = 0; k < rounds; ++k) {
    const std::int64_t number = files.open(name);
    files.write(number, view_of(data), 16);
    files.seek(number, 0);
    files.read(number, view_of(data), 16);
    files.seek(number, 3);
    files.write_byte(number, files.read_byte(number) + files.size(number));
    files.close(number);
  }
}

void filter(dse::Context& context) {
  for (int k = 0; k < rounds; ++k) {
    context.natives.samples.consume(k);
    context.natives.writers.set_stop(!context.natives.writers.stop());
  }
}

/// Prints lines in pieces; two threads do it in turns for one actor.
void print_half(dse::Context& context, char letter, const dse::ActorInfo& actor, std::mutex& turn) {
  for (int k = 0; k < rounds; ++k) {
    const std::lock_guard lock(turn);
    dse::actor_at_work = &actor;
    context.output(std::string(3, letter));
    dse::actor_at_work = nullptr;
  }
}

/// Prints lines in pieces.
void print(dse::Context& context, char letter) {
  for (int k = 0; k < rounds; ++k) {
    for (int n = 0; n < 5; ++n) context.output(std::string(3, letter));
    context.natives.console.write(1, k % 2 == 0 ? "\n" : std::string("\n") + letter + letter + letter + "\n");
  }
  context.output(std::string(3, letter));
  context.end_thread();
}

}  // namespace

int main(int, char** argv) {
  dse::RunOptions options;
  options.input = argv[2];
  options.reference = argv[2];
  options.output = argv[3];
  options.write = std::string(argv[3]) + ".txt";
  options.loops = 50;
  dse::Context context(options, argv[1], std::string(argv[1]) + "-files",
                       [](std::string_view text) { std::printf("%s|", std::string(text).c_str()); });
  context.set_threaded(true);
  std::vector<std::thread> threads;
  threads.emplace_back(read_input, std::ref(context));
  threads.emplace_back(show, std::ref(context));
  threads.emplace_back(use_files, std::ref(context), "a");
  threads.emplace_back(use_files, std::ref(context), "b");
  threads.emplace_back(filter, std::ref(context));
  static const dse::ActorInfo actor{};
  std::mutex turn;
  for (int k = 0; k < 2; ++k) {
    threads.emplace_back(print_half, std::ref(context), 'd', std::cref(actor), std::ref(turn));
  }
  for (const char letter : {'a', 'b', 'c'}) threads.emplace_back(print, std::ref(context), letter);
  for (std::thread& thread : threads) thread.join();
  context.close();
  std::fprintf(stderr, "%lld\n", static_cast<long long>(context.screen.frames()));
  return 0;
}
