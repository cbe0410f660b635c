// What a program says on standard error when it has run, as `dse run` does: how it ended and what is remarkable.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "dse/errors.hpp"
#include "dse/result.hpp"
#include "dse/run_types.hpp"
#include "dse/tables.hpp"

namespace dse {

/// Return a place of the program as one of a message.
inline Place place_of(const Site& site) {
  if (site.line == 0) {
    return {};
  }
  return {site.path, site.line, site.column, site.end_line, site.end_column};
}

namespace detail {

/// Return a warning for each place that accessed a list out of bounds, those of several instances in one.
inline std::vector<Diagnostic> stray_warnings(const NetworkInfo& network, const RunResult& result) {
  std::vector<std::pair<Site, std::int64_t>> found;
  const auto key = [](const Site& site) {
    return std::tuple(std::string(site.path), site.line, site.column, std::string(site.name));
  };
  for (std::size_t actor = 0; actor != result.strays.size(); ++actor) {
    for (std::size_t k = 0; k != result.strays[actor].size(); ++k) {
      const Site& site = network.actors[actor].sites[k];
      const std::int64_t count = result.strays[actor][k];
      const auto same = std::find_if(found.begin(), found.end(),
                                     [&](const auto& other) { return key(other.first) == key(site); });
      if (count != 0 && same != found.end()) {
        same->second += count;
      } else if (count != 0) {
        found.emplace_back(site, count);
      }
    }
  }
  std::vector<Diagnostic> warnings;
  for (const auto& [site, count] : found) {
    warnings.push_back({"'" + std::string(site.name) + "' was accessed out of bounds " + std::to_string(count) +
                            " times; reads gave 0, writes were dropped",
                        place_of(site), "", true});
  }
  return warnings;
}

class Summary {
 public:
  explicit Summary(const RunReport& report) : network_(report.network), report_(report), result_(*report.result) {}

  /// Return the lines; `why`: what each actor waits for is told too.
  std::vector<std::string> lines(bool quiet, bool why) {
    if (!quiet) {
      warnings();
      ended();
      idle();
    }
    if (result_.exit_code != 0) {
      say("the program ended with exit code " + std::to_string(result_.exit_code));
    }
    compared();
    if (!quiet) {
      left(why);
      if ((why || result_.deadlock) && !nothing_fired()) {
        waits();
      }
    }
    deadlock();
    return std::move(lines_);
  }

 private:
  void say(const std::string& line) { lines_.push_back(shown_message(line)); }

  void warnings() {
    std::vector<Diagnostic> found = stray_warnings(network_, result_);
    for (const std::string& text : report_.effects.warnings) {
      found.push_back({text, {}, "", true});
    }
    if (result_.gpu && result_.gpu->time_limit) {
      found.push_back({"the system ends kernels of '" + result_.gpu->name + "' that run long, and a longer run may fail", {},
                       "use a card that serves no screen", true});
    }
    if (result_.gpu && !result_.gpu->said.empty()) {
      found.push_back({result_.gpu->said, {}, "give --gpu-blocks what fits, or --gpu-threads less", true});
    }
    for (const Diagnostic& one : found) {
      lines_.push_back(render(one));
    }
  }

  void ended() {
    static constexpr std::array<const char*, 5> endings = {
        "no actor can fire any more", "actors fire, but no token moves", "the firing budget is spent",
        "the program ended itself", "all pictures asked for were shown"};
    say(std::to_string(result_.n_firings) + " firings; " + endings[static_cast<std::size_t>(result_.why)]);
    batches();
    std::vector<std::string> told;
    for (const std::string& path : report_.effects.outputs) {
      if (std::find(told.begin(), told.end(), path) == told.end()) {
        told.push_back(path);
        say("wrote " + path);
      }
    }
  }

  /// Return whether no actor fired though the program did not end by itself.
  bool nothing_fired() const {
    return result_.n_firings == 0 && result_.exit_code == 0 && result_.why == Why::quiescent;
  }

  /// Warn where nothing fired, which nobody wants, with the reasons.
  void idle() {
    if (nothing_fired()) {
      say(std::string("warning: nothing fired") + (result_.waits.empty() ? "" : ": this is what the actors wait for"));
      waits();
    }
  }

  /// Say how many firings several threads of a GPU made at once, where they could.
  void batches() {
    if (!result_.gpu || result_.gpu->threads == 0) {
      return;
    }
    std::int64_t sum = 0;
    for (const std::int64_t count : result_.gpu->batched) {
      sum += count;
    }
    std::int64_t rounds = 0;
    for (const std::int64_t count : result_.gpu->shared) {
      rounds += count;
    }
    if (rounds != 0) {
      say(std::to_string(rounds) + " rounds of loops by " + std::to_string(result_.gpu->threads) +
          " threads of the GPU an actor");
    }
    say(std::to_string(sum) + " of them several at once, by " + std::to_string(result_.gpu->blocks) + " x " +
        std::to_string(result_.gpu->threads) + " threads of the GPU an actor");
  }

  void compared() {
    if (!report_.effects.compared) {
      return;
    }
    const Compared& found = *report_.effects.compared;
    say(std::to_string(found.equal) + " of " + std::to_string(found.compared) +
        " equal the reference; largest difference " + std::to_string(found.max_difference));
    if (found.missing != 0) {
      say("the reference ends within " + std::to_string(found.missing) +
          " of them: it is too short, or of another size");
    }
  }

  void left(bool why) {
    std::int64_t sum = 0;
    std::vector<std::string> channels;
    for (std::size_t k = 0; k != result_.channels.size(); ++k) {
      const std::int64_t count = result_.channels[k].left;
      sum += count;
      if (count != 0) {
        channels.push_back("  " + std::to_string(count) + " in " + network_.connections[k].name);
      }
    }
    if (sum == 0) {
      return;
    }
    say(std::to_string(sum) + " tokens were left in FIFOs:");
    for (const std::string& channel : channels) {
      say(channel);
    }
    if (!why && !result_.deadlock) {
      say("--why says who waits for what");
    }
  }

  void waits() {
    for (const Wait& wait : result_.waits) {
      say("  " + wait_text(wait));
    }
  }

  std::string wait_text(const Wait& wait) const {
    const ActorInfo& actor = network_.actors[static_cast<std::size_t>(wait.actor)];
    const std::string action = actor.actions[static_cast<std::size_t>(wait.action)].name;
    const std::string who = std::string(actor.name) + ": ", need = std::to_string(wait.need) + " tokens on ";
    const auto port = [&](std::span<const char* const> names) {
      return std::string(names[static_cast<std::size_t>(wait.port)]);
    };
    switch (wait.kind) {
      case WaitKind::tokens:
        return who + action + " waits for " + need + port(actor.inputs) + ", has " + std::to_string(wait.have);
      case WaitKind::room:
        return who + action + " waits for room for " + need + port(actor.outputs) + ", has room for " +
               std::to_string(wait.have) + " (" + actor_names(wait.peers) + ")";
      case WaitKind::guard:
        return who + "the guard of " + action + " is false";
      case WaitKind::unconnected:
        return who + action + " reads " + port(actor.inputs) + ", which is not connected";
    }
    return who + action;
  }

  std::string actor_names(const std::vector<int>& actors) const {
    std::string text;
    for (const int actor : actors) {
      text += (text.empty() ? "" : ", ") + std::string(network_.actors[static_cast<std::size_t>(actor)].name);
    }
    return text;
  }

  void deadlock() {
    if (!result_.wrong_order.empty()) {
      say(result_.wrong_order);
    }
    if (!result_.deadlock) {
      return;
    }
    const Deadlock& found = *result_.deadlock;
    const std::string needed = std::to_string(found.needed_tokens);
    say("deadlock: " + actor_names(found.actors) + " wait for each other; " +
        network_.connections[static_cast<std::size_t>(found.connection)].name + " is full with " +
        std::to_string(found.capacity_tokens) + " tokens\n  = its writer goes on when it holds " + needed +
        " tokens (-s " + needed +
        ", or bufferSize in the XDF); if the run then stops later, it needs more: try powers of two");
  }

  const NetworkInfo& network_;
  const RunReport& report_;
  const RunResult& result_;
  std::vector<std::string> lines_;
};

}  // namespace detail

/// Return the lines that tell of a run that came to an end of its own.
inline std::vector<std::string> summary_lines(const RunReport& report, bool quiet, bool why) {
  return detail::Summary(report).lines(quiet, why);
}

/// Return the exit code of such a run: 0 done, 1 the output differs from the reference or the program failed, 3
/// deadlock.
inline int exit_code_of(const RunReport& report) {
  const auto& compared = report.effects.compared;
  if (report.result->deadlock || !report.result->wrong_order.empty()) {
    return exit_deadlock;
  }
  return report.result->exit_code != 0 || (compared && compared->equal < compared->compared) ? exit_failed : 0;
}

}  // namespace dse
