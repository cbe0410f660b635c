// Measures what moving tokens between the processor and a GPU takes, by the FIFOs that programs of dse have there.
//
//   link CASE...    each case: WAY,FIFOS,CAPACITY,BLOCK,BYTES,BLOCKS
//
// WAY is to-gpu, from-gpu, both (as many FIFOs each way) or echo (a block there and back). Prints one document of JSON.
// The FIFOs lie in pinned memory that both sides see. Each has an end in a block of one thread on the GPU; the ends on
// the processor are served by as many threads as there are cores, in turn.
#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "dse/actor.hpp"
#include "dse/counter.hpp"
#include "dse/device/gpu.hpp"
#include "dse/errors.hpp"
#include "dse/faults.hpp"
#include "dse/json.hpp"
#include "dse/machine.hpp"
#include "dse/waiting.hpp"
#include "probe/link.hpp"

dse::device::Gpu* open_gpu();  // in link.cu

namespace {

using dse::Channel;
using dse::Moment;
using dse::device::ActorPlan;
using dse::device::ClockWords;
using dse::device::Control;
using dse::device::Gpu;
using dse::device::Group;
using dse::device::GroupWords;
using dse::device::Plan;
using dse::device::Ring;
using dse::device::TimeSum;
using link_probe::LinkTask;
using link_probe::Role;

enum class Way { to_gpu, from_gpu, both, echo };
constexpr std::array<std::string_view, 4> way_names = {"to-gpu", "from-gpu", "both", "echo"};

struct Case {
  Way way = Way::to_gpu;
  int fifos = 1;  // each way
  int capacity = 512;
  int block = 1;
  int bytes = 4;
  int blocks = 1;
};

void add(TimeSum& to, std::uint64_t from, std::uint64_t until) {
  const auto counts = static_cast<std::int64_t>(until - from);
  to.least = to.count == 0 ? counts : std::min(to.least, counts);
  to.most = std::max(to.most, counts);
  ++to.count;
  to.sum += counts;
  to.squares += static_cast<double>(counts) * static_cast<double>(counts);
}

/// What reading the counter takes: the least of some.
std::uint64_t reading_cost() {
  std::uint64_t least = ~std::uint64_t{0};
  for (int k = 0; k != 1000; ++k) {
    const std::uint64_t from = dse::counter_now();
    least = std::min(least, dse::counter_now() - from);
  }
  return least;
}

/// Wait a little; after many times give way, as there may be more threads than cores.
void pause_at(int& spins) {
  if (++spins < 2000) {
    dse::pause_briefly();
  } else {
    std::this_thread::yield();
  }
}

/// An end on the processor.
class End {
 public:
  virtual ~End() = default;
  /// Move a block if that is possible now; return whether it was.
  virtual bool step() = 0;
  /// Return whether all is done, at the other end too.
  virtual bool over() const = 0;

  TimeSum took;
  std::uint64_t sum = 0;
  Moment end;
};

template <class T>
class WritingEnd final : public End {
 public:
  WritingEnd(Channel& channel, const Case& of)
      : channel_(channel), of_(of), writer_(std::array<Channel*, 1>{&channel}), tokens_(static_cast<std::size_t>(of.block)) {}

  bool step() override {
    if (blocks_ == of_.blocks) {
      return false;
    }
    const std::uint64_t from = dse::counter_now();
    writer_.refresh();
    if (writer_.room() < of_.block) {
      return false;
    }
    writer_.put(tokens_.data(), of_.block);
    writer_.expose();
    add(took, from, dse::counter_now());
    ++blocks_;
    prepare();
    return true;
  }
  bool over() const override { return channel_.read.load(std::memory_order_acquire) == total(); }

  void prepare() {
    for (int k = 0; k != of_.block; ++k) {
      tokens_[static_cast<std::size_t>(k)] = static_cast<T>(link_probe::token_at(blocks_ * of_.block + k));
    }
  }

 private:
  std::int64_t total() const { return std::int64_t{of_.blocks} * of_.block; }

  Channel& channel_;
  const Case of_;
  dse::Writer<T, 1> writer_;
  std::vector<T> tokens_;
  std::int64_t blocks_ = 0;
};

template <class T>
class ReadingEnd final : public End {
 public:
  ReadingEnd(Channel& channel, const Case& of) : of_(of), reader_(&channel), tokens_(static_cast<std::size_t>(of.block)) {}

  bool step() override {
    const std::uint64_t from = dse::counter_now();
    reader_.refresh();
    if (reader_.count() < of_.block) {
      return false;
    }
    reader_.copy(tokens_.data(), 0, of_.block);
    reader_.consume(of_.block);
    reader_.expose();
    add(took, from, dse::counter_now());
    for (const T token : tokens_) {
      sum += static_cast<std::uint64_t>(token);
    }
    ++blocks_;
    return true;
  }
  bool over() const override { return blocks_ == of_.blocks; }

 private:
  const Case of_;
  dse::Reader<T> reader_;
  std::vector<T> tokens_;
  std::int64_t blocks_ = 0;
};

/// A block there and back: one end that writes, and reads what comes.
template <class T>
class EchoEnd final : public End {
 public:
  EchoEnd(Channel& there, Channel& back, const Case& of) : of_(of), writing_(there, of), reading_(back, of) {
    writing_.prepare();
  }

  bool step() override {
    if (!waiting_) {
      sent_ = dse::counter_now();
      waiting_ = writing_.step();
      return waiting_;
    }
    if (!reading_.step()) {
      return false;
    }
    add(took, sent_, dse::counter_now());
    sum = reading_.sum;
    waiting_ = false;
    return true;
  }
  bool over() const override { return reading_.over(); }

 private:
  const Case of_;
  WritingEnd<T> writing_;
  ReadingEnd<T> reading_;
  bool waiting_ = false;
  std::uint64_t sent_ = 0;
};

/// One case: FIFOs, kernel and threads; what they did.
class Trial {
 public:
  Trial(Gpu& gpu, const Case& of) : gpu_(gpu), of_(of) {
    if (of_.bytes == 1) {
      connect<std::uint8_t>();
    } else if (of_.bytes == 2) {
      connect<std::int16_t>();
    } else if (of_.bytes == 4) {
      connect<std::int32_t>();
    } else {
      connect<std::int64_t>();
    }
    make_plan();
  }

  void run() {
    const int blocks = static_cast<int>(tasks_.size());
    if (gpu_.room(1) < blocks) {
      throw dse::ConfigError({"'" + gpu_.facts().name + "' has room for " + std::to_string(gpu_.room(1)) +
                                  " ends of FIFOs at once, not for " + std::to_string(blocks),
                              {}, "measure fewer FIFOs"}, dse::exit_failed);
    }
    gpu_.launch(device_plan_, blocks, 1);
    try {
      await_blocks();
      serve();
    } catch (...) {
      std::atomic_ref(control().stop).store(1, std::memory_order_release);
      throw;
    }
    while (!gpu_.has_ended()) {
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    gather();
  }

  void tell(dse::JsonWriter& json) const {
    json.open_object().key("way").value(way_names[static_cast<std::size_t>(of_.way)]);
    json.key("fifos").value(of_.fifos).key("capacity").value(of_.capacity).key("block").value(of_.block);
    json.key("bytes").value(of_.bytes).key("blocks").value(of_.blocks).key("ns").value(end_.ns - start_.ns);
    json.key("counter_mhz").value(1e3 * static_cast<double>(end_.counter - start_.counter) /
                                  static_cast<double>(std::max<std::int64_t>(end_.ns - start_.ns, 1)));
    json.key("counter_reading").value(reading_cost()).key("right").value(right_);
    sums(json, "cpu_writes", host(writers_));
    sums(json, "cpu_reads", host(readers_));
    sums(json, "gpu_writes", device(Role::writes));
    sums(json, "gpu_reads", device(Role::reads));
    json.key("clocks").open_list();
    for (const Group& group : groups_) {
      const ClockWords& words = *group.clock;
      json.open_object().key("reading").value(words.reading);
      json.key("cycles").list(std::vector<std::int64_t>(words.cycles, words.cycles + words.n));
      json.key("ns").list(std::vector<std::int64_t>(words.ns, words.ns + words.n)).close_object();
    }
    json.close_list().close_object();
  }

 private:
  using Held = std::unique_ptr<Channel, dse::ReleaseChannel>;

  /// Make the FIFOs, with an end on the processor each, and what the kernel does at the others.
  template <class T>
  void connect() {
    for (int k = 0; k != of_.fifos; ++k) {
      if (of_.way == Way::echo) {
        Channel& there = fifo<T>();
        Channel& back = fifo<T>();
        ends_.push_back(std::make_unique<EchoEnd<T>>(there, back, of_));
        writers_.push_back(ends_.size() - 1);
        tasks_.push_back({Role::echoes, &there, &back});
        continue;
      }
      if (of_.way != Way::from_gpu) {
        auto end = std::make_unique<WritingEnd<T>>(fifo<T>(), of_);
        end->prepare();
        ends_.push_back(std::move(end));
        writers_.push_back(ends_.size() - 1);
        tasks_.push_back({Role::reads, channels_.back().get(), nullptr});
      }
      if (of_.way != Way::to_gpu) {
        ends_.push_back(std::make_unique<ReadingEnd<T>>(fifo<T>(), of_));
        readers_.push_back(ends_.size() - 1);
        tasks_.push_back({Role::writes, nullptr, channels_.back().get()});
      }
    }
  }

  template <class T>
  Channel& fifo() {
    channels_.emplace_back(dse::make_fifo<T>(of_.capacity, &gpu_, true));
    channels_.back()->crossing = true;
    channels_.back()->reader_refill = of_.block;  // as in programs: who knows of enough asks nobody
    channels_.back()->writer_refill = of_.block;
    return *channels_.back();
  }

  /// What a block of the kernel does: the FIFO that it reads, and the one that it writes.
  struct Duty {
    Role role;
    Channel* input;
    Channel* output;
  };

  Ring* ring_of(Channel* channel) {
    if (channel == nullptr) {
      return nullptr;
    }
    Ring ring;
    ring.tokens = channel->tokens_at;
    ring.mask = channel->tokens_held - 1;
    ring.capacity = channel->capacity;
    ring.written = reinterpret_cast<std::int64_t*>(&channel->written);
    ring.read = reinterpret_cast<std::int64_t*>(&channel->read);
    ring.across = true;
    ring.reader_refill = channel->reader_refill;
    ring.writer_refill = channel->writer_refill;
    return copied(ring);
  }

  void make_plan() {
    for (const Duty& duty : tasks_) {
      LinkTask task;
      task.role = duty.role;
      task.token_bytes = of_.bytes;
      task.block = of_.block;
      task.blocks = of_.blocks;
      task.tokens = gpu_.device_memory(static_cast<std::size_t>(of_.block) * static_cast<std::size_t>(of_.bytes));
      device_tasks_.push_back(copied(task));
      ActorPlan actor;
      actor.object = device_tasks_.back();
      actor.inputs = copied(ring_of(duty.input));
      actor.outputs = copied(copied(ring_of(duty.output)));
      const auto place = static_cast<std::int32_t>(actors_.size());
      actors_.push_back(actor);
      groups_.push_back({.first = place,
                         .count = 1,
                         .words = pinned<GroupWords>(),
                         .crew = nullptr,
                         .clock = pinned<ClockWords>()});
    }
    plan_.actors = copied(actors_);
    plan_.groups = copied(groups_);
    plan_.n_groups = static_cast<std::int32_t>(groups_.size());
    plan_.control = pinned<Control>();
    device_plan_ = copied(plan_);
  }

  template <class T>
  T* pinned() {
    return static_cast<T*>(gpu_.shared_memory(sizeof(T)));
  }
  template <class T>
  T* copied(const T& one) {
    return copied(std::vector<T>{one});
  }
  template <class T>
  T* copied(const std::vector<T>& items) {
    T* const place = static_cast<T*>(gpu_.device_memory(items.size() * sizeof(T)));
    gpu_.copy_to(place, items.data(), items.size() * sizeof(T));
    return place;
  }

  Control& control() { return *plan_.control; }

  /// Wait until all blocks are there. Throws what went wrong in the kernel.
  void await_blocks() {
    const std::int64_t until_ns = dse::nanoseconds_now() + patience_ns;
    for (const Group& group : groups_) {
      while (std::atomic_ref(group.words->epoch).load(std::memory_order_acquire) == 0) {
        if (gpu_.has_ended() || dse::nanoseconds_now() > until_ns) {
          throw dse::RunError("the kernel does not begin", {}, "this is a fault of dse");
        }
        std::this_thread::yield();
      }
    }
  }

  /// Let threads serve the ends until all is over.
  void serve() {
    const std::vector<int> cores = dse::allowed_cores();
    const std::size_t count = std::min(ends_.size(), std::max<std::size_t>(dse::core_count(), 1));
    std::atomic<std::size_t> working{count};
    std::vector<std::thread> threads;
    start_ = Moment::now();
    std::atomic_ref(control().request).store(1, std::memory_order_release);
    for (std::size_t k = 0; k != count; ++k) {
      threads.emplace_back([&, k] {
        if (k < cores.size()) {
          dse::pin_to(cores[k]);
        }
        serve_share(k, count);
        working.fetch_sub(1);
      });
    }
    watch(working);
    for (std::thread& thread : threads) {
      thread.join();
    }
    if (failure_) {
      std::rethrow_exception(failure_);
    }
    end_ = start_;
    for (const auto& end : ends_) {
      end_ = end->end.ns > end_.ns ? end->end : end_;
    }
  }

  /// Look after the kernel while threads work: one that failed ends the run, and so does one that stands still.
  void watch(const std::atomic<std::size_t>& working) {
    const std::int64_t until_ns = dse::nanoseconds_now() + patience_ns;
    bool ended = false;
    while (working.load() != 0) {
      try {
        ended = ended || gpu_.has_ended();
        if (dse::nanoseconds_now() > until_ns) {
          throw dse::RunError("tokens do not arrive", {}, "the GPU may be at work for others; try again");
        }
      } catch (...) {
        failure_ = std::current_exception();
        given_up_.store(true);
        return;
      }
      std::this_thread::sleep_for(std::chrono::microseconds(500));
    }
  }

  void serve_share(std::size_t first, std::size_t step) {
    std::size_t left = 0;
    for (std::size_t k = first; k < ends_.size(); k += step) {
      ++left;
    }
    int spins = 0;
    while (left != 0 && !given_up_.load(std::memory_order_relaxed)) {
      bool moved = false;
      for (std::size_t k = first; k < ends_.size(); k += step) {
        End& end = *ends_[k];
        if (end.end.ns != 0) {
          continue;
        }
        moved = end.step() || moved;
        if (end.over()) {
          end.end = Moment::now();
          --left;
        }
      }
      if (moved) {
        spins = 0;
      } else {
        pause_at(spins);
      }
    }
  }

  /// Read back what the kernel noted, and look whether every token arrived as it was.
  void gather() {
    std::uint64_t expected = 0;
    for (std::int64_t k = 0; k != std::int64_t{of_.blocks} * of_.block; ++k) {
      expected += link_probe::token_at(k);
    }
    for (LinkTask* const place : device_tasks_) {
      LinkTask task;
      gpu_.copy_from(&task, place, sizeof task);
      right_ = right_ && (task.role == Role::writes || task.sum == expected);
      done_.push_back(task);
    }
    for (const std::size_t reader : readers_) {
      right_ = right_ && ends_[reader]->sum == expected;
    }
    for (const auto& end : ends_) {
      right_ = right_ && (of_.way != Way::echo || end->sum == expected);
    }
  }

  std::vector<TimeSum> host(const std::vector<std::size_t>& which) const {
    std::vector<TimeSum> found;
    for (const std::size_t k : which) {
      found.push_back(ends_[k]->took);
    }
    return found;
  }
  std::vector<TimeSum> device(Role role) const {
    std::vector<TimeSum> found;
    for (const LinkTask& task : done_) {
      if (task.role == role) {
        found.push_back(task.took);
      }
    }
    return found;
  }

  static void sums(dse::JsonWriter& json, std::string_view name, const std::vector<TimeSum>& some) {
    json.key(name).open_list();
    for (const TimeSum& one : some) {
      json.open_list().value(one.count).value(one.sum).value(one.least).value(one.most).value(one.squares).close_list();
    }
    json.close_list();
  }

  static constexpr std::int64_t patience_ns = 50'000'000'000;
  Gpu& gpu_;
  const Case of_;
  std::vector<Held> channels_;
  std::vector<std::unique_ptr<End>> ends_;
  std::vector<std::size_t> writers_;  // into the ends; those that echo too
  std::vector<std::size_t> readers_;
  std::vector<Duty> tasks_;
  std::vector<LinkTask*> device_tasks_;
  std::vector<ActorPlan> actors_;
  std::vector<Group> groups_;
  std::vector<LinkTask> done_;
  Plan plan_;
  Plan* device_plan_ = nullptr;
  std::atomic<bool> given_up_{false};
  std::exception_ptr failure_;
  Moment start_;
  Moment end_;
  bool right_ = true;
};

bool number(std::string_view text, int least, int most, int& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() && value >= least && value <= most;
}

/// Read WAY,FIFOS,CAPACITY,BLOCK,BYTES,BLOCKS; return whether it is a case.
bool read_case(std::string_view text, Case& found) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  const auto way = words.empty() ? way_names.end() : std::find(way_names.begin(), way_names.end(), words[0]);
  if (words.size() != 6 || way == way_names.end()) {
    return false;
  }
  found.way = static_cast<Way>(way - way_names.begin());
  return number(words[1], 1, 512, found.fifos) && number(words[2], 1, 1 << 24, found.capacity) &&
         number(words[3], 1, found.capacity, found.block) && number(words[4], 1, 8, found.bytes) &&
         std::has_single_bit(static_cast<unsigned>(found.bytes)) && number(words[5], 1, 1 << 28, found.blocks);
}

int measure(const std::vector<Case>& cases) {
  dse::JsonWriter json;
  json.open_object();
  bool first = true;
  for (const Case& of : cases) {
    const std::unique_ptr<Gpu> gpu(open_gpu());
    if (first) {
      const auto& facts = gpu->facts();
      json.key("name").value(facts.name).key("major").value(facts.major).key("minor").value(facts.minor);
      json.key("emulated").value(facts.emulated).key("cases").open_list();
      first = false;
    }
    Trial trial(*gpu, of);
    trial.run();
    trial.tell(json);
  }
  json.close_list().close_object();
  std::printf("%s\n", json.text().c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<Case> cases;
  for (const std::string_view word : std::vector<std::string_view>(argv + 1, argv + argc)) {
    if (!read_case(word, cases.emplace_back())) {
      cases.clear();
      break;
    }
  }
  if (cases.empty()) {
    std::fprintf(stderr, "usage: link WAY,FIFOS,CAPACITY,BLOCK,BYTES,BLOCKS...   WAY: to-gpu, from-gpu, both, echo\n");
    return 2;
  }
  try {
    return measure(cases);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return dse::exit_failed;
  }
}
