// The outside world of a run as `main` sees it: made from the options, closed at the end, asked what was done.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "dse/context.hpp"
#include "dse/engine.hpp"
#include "dse/options.hpp"
#include "dse/result.hpp"
#include "dse/tables.hpp"

namespace dse {

/// Return the world of a run; `sink` takes what the network prints. The options must outlive it.
inline std::unique_ptr<Context> make_context(const ProgramOptions& options, const NetworkInfo& network,
                                             std::function<void(std::string_view)> sink) {
  const std::string home = options.home.value_or(".");
  const std::string files = options.run.files.value_or("dse-out/" + std::string(network.name) + "/files");
  auto context = std::make_unique<Context>(options.run, home, files, std::move(sink));
  context->screen.compares_itself = network.compares_itself;
  context->set_threaded(needs_threads(options.run.mapping));
  return context;
}

/// Let a thread do its work; what it has printed of its last line goes out with it.
inline void work_and_print(Context& context, const std::function<void()>& work) {
  try {
    work();
  } catch (...) {
    context.end_thread();
    throw;
  }
  context.end_thread();
}

/// Return what was done. The context must be closed.
inline Effects effects_of(const Context& context) {
  Effects effects;
  effects.frames = context.screen.frames();
  effects.outputs = context.outputs();
  effects.read = context.files.access.read_files();
  effects.warnings = context.warnings();
  effects.asked_input = context.asked_input;
  effects.asked_loops = context.asked_loops;
  if (const auto found = context.screen.comparison()) {
    effects.compared = Compared{found->compared, found->equal, found->missing, found->max_difference};
  }
  return effects;
}

}  // namespace dse
