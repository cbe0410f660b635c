// The document of --result: what a run did, as JSON. dse/native/result.py reads it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dse/counter.hpp"
#include "dse/errors.hpp"
#include "dse/json.hpp"
#include "dse/run_types.hpp"
#include "dse/tables.hpp"
#include "dse/version.hpp"

namespace dse {

/// How the outputs differ from the reference.
struct Compared {
  std::int64_t compared = 0;
  std::int64_t equal = 0;
  std::int64_t missing = 0;  // those for which the reference was too short
  std::int64_t max_difference = 0;
};

/// What a run did to its surroundings, and asked of them.
struct Effects {
  std::int64_t frames = 0;
  std::vector<std::string> outputs = {};  // files written
  std::vector<std::string> read = {};     // files that the program opened by name
  std::optional<Compared> compared = {};
  std::vector<std::string> warnings = {};  // options without effect
  bool asked_input = false;
  bool asked_loops = false;
  std::size_t printed_bytes = 0;
};

/// Whose fault an error is: of the program that ran, of its input, or of an option.
enum class Blame { fault, input, option };

/// All that a run has to tell. Without `result` it failed.
struct RunReport {
  const NetworkInfo& network;
  std::optional<RunResult> result = {};
  std::optional<Diagnostic> error = {};
  Blame blame = Blame::fault;
  Effects effects = {};
  std::int64_t setup_ns = 0;
  bool hashed = false;  // the tokens of the connections
};

namespace detail {

inline constexpr std::array<const char*, 4> wait_names = {"tokens", "guard", "room", "unconnected"};
inline constexpr std::array<const char*, 3> blame_names = {"fault", "input", "option"};

class ResultWriter {
 public:
  explicit ResultWriter(const RunReport& report) : report_(report) {}

  std::string text() {
    json_.open_object().key("version").value(result_version).key("network").value(report_.network.name);
    json_.key("why").value(report_.result ? why_text(report_.result->why) : "fault");
    json_.key("exit_code").value(report_.result ? report_.result->exit_code : 0);
    json_.key("error");
    error();
    effects();
    if (report_.result) {
      run(*report_.result);
    }
    json_.close_object();
    return json_.text() + "\n";
  }

 private:
  void error() {
    if (!report_.error) {
      json_.null();
      return;
    }
    const Diagnostic& found = *report_.error;
    json_.open_object().key("message").value(found.message).key("expected").value(found.expected);
    json_.key("kind").value(blame_names[static_cast<std::size_t>(report_.blame)]);
    json_.key("path").value(found.place.path).key("line").value(found.place.line);
    json_.key("column").value(found.place.column).key("end_line").value(found.place.end_line);
    json_.key("end_column").value(found.place.end_column).close_object();
  }

  void effects() {
    const Effects& effects = report_.effects;
    json_.key("stdout_bytes").value(effects.printed_bytes).key("frames").value(effects.frames);
    json_.key("outputs").list(effects.outputs).key("read").list(effects.read);
    json_.key("input_asked").value(effects.asked_input).key("input_read").value(effects.asked_input);
    json_.key("loops_asked").value(effects.asked_loops).key("comparison");
    if (!effects.compared) {
      json_.null();
      return;
    }
    json_.open_object().key("compared").value(effects.compared->compared);
    json_.key("equal").value(effects.compared->equal).key("missing").value(effects.compared->missing);
    json_.key("max_difference").value(effects.compared->max_difference).close_object();
  }

  void run(const RunResult& result) {
    json_.key("firings").value(result.n_firings).key("actors").open_list();
    for (std::size_t k = 0; k != result.actions.size(); ++k) {
      actor(result, k);
    }
    json_.close_list().key("channels").open_list();
    for (const ChannelResult& channel : result.channels) {
      json_.open_object().key("tokens").value(channel.tokens).key("left").value(channel.left);
      json_.key("capacity").value(channel.capacity).key("hash");
      report_.hashed ? json_.value(std::to_string(channel.hash)) : json_.null();
      json_.close_object();
    }
    json_.close_list().key("waits").open_list();
    for (const Wait& wait : result.waits) {
      json_.open_object().key("actor").value(wait.actor).key("action").value(wait.action);
      json_.key("kind").value(wait_names[static_cast<std::size_t>(wait.kind)]).key("port").value(wait.port);
      json_.key("have").value(wait.have).key("need").value(wait.need);
      json_.key("peers").list(wait.peers).close_object();
    }
    json_.close_list().key("deadlock");
    deadlock(result);
    json_.key("wrong_order").value(result.wrong_order);
    times(result);
    machine(result);
    json_.key("gpu");
    result.gpu ? gpu(*result.gpu) : static_cast<void>(json_.null());
  }

  void gpu(const GpuReport& told) {
    json_.open_object().key("name").value(told.name).key("major").value(told.major).key("minor").value(told.minor);
    json_.key("blocks").value(told.blocks).key("threads").value(told.threads).key("batched").list(told.batched);
    json_.key("shared").list(told.shared);
    json_.key("emulated").value(told.emulated).key("clocks").open_list();
    for (const GpuClock& clock : told.clocks) {
      json_.open_object().key("reading").value(clock.reading).key("cycles").list(clock.cycles);
      json_.key("ns").list(clock.ns).close_object();
    }
    json_.close_list().key("actors").open_list();
    for (const GpuActorTimes& actor : told.actors) {
      json_.open_object().key("actor").value(actor.actor);
      sums("choosing", actor.choosing);
      sums("phases", actor.phases);
      sums("rest", {actor.leaving, actor.vain, actor.starting});
      json_.close_object();
    }
    json_.close_list().key("ends").open_list();
    for (const GpuEndTimes& end : told.ends) {
      json_.open_object().key("connection").value(end.connection).key("writes").value(end.writes);
      sums("times", {end.times.refresh, end.times.publish});
      json_.close_object();
    }
    json_.close_list().close_object();
  }

  /// Write each sum as a list of its count, sum, least, most and squares; null where nothing was noted.
  void sums(std::string_view name, const std::vector<device::TimeSum>& some) {
    json_.key(name).open_list();
    for (const device::TimeSum& one : some) {
      if (one.count == 0) {
        json_.null();
      } else {
        json_.open_list().value(one.count).value(one.sum).value(one.least).value(one.most).value(one.squares);
        json_.close_list();
      }
    }
    json_.close_list();
  }

  void times(const RunResult& result) {
    json_.key("times").open_object().key("start_ns").value(result.start_ns).key("end_ns").value(result.end_ns);
    json_.key("run_ns").value(result.run_ns).key("setup_ns").value(report_.setup_ns).close_object();
    json_.key("counter").open_object().key("kind").value(counter_name);
    json_.key("steps").value(result.counter_end - result.counter_start).close_object();
  }

  void machine(const RunResult& result) {
    json_.key("machine").open_object().key("pinned").value(result.pinned).key("threads").open_list();
    for (const ThreadReport& thread : result.threads) {
      json_.open_object().key("partition").value(thread.partition).key("core").value(thread.core);
      json_.key("cpu_start").value(thread.core_at_start).key("cpu_end").value(thread.core_at_end);
      json_.key("voluntary_switches").value(thread.voluntary_switches);
      json_.key("involuntary_switches").value(thread.involuntary_switches);
      json_.key("minor_faults").value(thread.minor_faults).key("major_faults").value(thread.major_faults);
      json_.key("waits").value(thread.spins).key("yields").value(thread.yields).key("sleeps").value(thread.sleeps);
      figure("cpu_ns", thread.cpu_ns);
      figure("cycles", thread.cycles);
      figure("instructions", thread.instructions);
      figure("cache_misses", thread.cache_misses);
      json_.close_object();
    }
    json_.close_list().key("ping_pong").open_list();
    for (const PingPong& pair : result.ping_pong) {
      json_.open_object().key("cores").list(std::vector<int>{pair.first_core, pair.second_core});
      json_.key("before_ns").value(pair.before_ns).key("after_ns").value(pair.after_ns);
      json_.key("work_ns").list(std::vector<double>(pair.work_ns.begin(), pair.work_ns.end())).close_object();
    }
    json_.close_list().close_object();
  }

  /// Write a figure that the system may not give.
  template <class Number>
  void figure(std::string_view name, const std::optional<Number>& value) {
    json_.key(name);
    value ? json_.value(*value) : json_.null();
  }

  void actor(const RunResult& result, std::size_t k) {
    json_.open_object().key("name").value(report_.network.actors[k].name).key("actions").list(result.actions[k]);
    json_.key("strays").open_list();
    for (std::size_t site = 0; site != result.strays[k].size(); ++site) {
      if (result.strays[k][site] != 0) {
        json_.list(std::vector<std::int64_t>{static_cast<std::int64_t>(site), result.strays[k][site]});
      }
    }
    json_.close_list().key("rounds").list(result.rounds[k]);
    json_.key("tail").value(k < result.idle_tail.size() ? result.idle_tail[k] : 0).close_object();
  }

  void deadlock(const RunResult& result) {
    if (!result.deadlock) {
      json_.null();
      return;
    }
    json_.open_object().key("actors").list(result.deadlock->actors);
    json_.key("connection").value(result.deadlock->connection);
    json_.key("capacity_tokens").value(result.deadlock->capacity_tokens);
    json_.key("needed_tokens").value(result.deadlock->needed_tokens).close_object();
  }

  const RunReport& report_;
  JsonWriter json_;
};

}  // namespace detail

/// Return the document of a run.
inline std::string result_text(const RunReport& report) { return detail::ResultWriter(report).text(); }

}  // namespace dse
