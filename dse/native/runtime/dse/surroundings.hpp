// The outside world of a run as `main` sees it: made from the options, closed at the end, asked what was done.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "dse/options.hpp"
#include "dse/result.hpp"
#include "dse/run_types.hpp"
#include "dse/tables.hpp"

#if __has_include("dse/context.hpp")
#include "dse/context.hpp"
#else
namespace dse {

/// Stands for the outside world as long as there are no native functions: it only prints.
class Context {
 public:
  explicit Context(std::function<void(std::string_view)> sink) : sink_(std::move(sink)) {}
  void output(std::string_view text) { sink_(text); }

 private:
  std::function<void(std::string_view)> sink_;
};

}  // namespace dse
#endif

namespace dse {

/// Return the folder in which files are created that the program itself names.
inline std::string files_folder(const ProgramOptions& options, const NetworkInfo& network) {
  return options.run.files.value_or("dse-out/" + std::string(network.name) + "/files");
}

template <class Sink>
std::unique_ptr<Context> make_context(const ProgramOptions& options, const NetworkInfo& network, Sink sink) {
  if constexpr (requires { new Context(options.run, "", "", sink); }) {
    const std::string home = options.home.value_or("."), files = files_folder(options, network);
    auto context = std::make_unique<Context>(options.run, home, files, sink);
    context->screen.compares_itself = network.compares_itself;
    return context;
  } else {
    return std::make_unique<Context>(sink);
  }
}

/// Close all files. Throws ConfigError if the system refuses it.
template <class World>
void close_context(World& context) {
  if constexpr (requires { context.close(); }) {
    context.close();
  }
}

/// Return what was done. The context must be closed.
template <class World>
Effects effects_of(const World& context) {
  Effects effects;
  if constexpr (requires { context.screen; }) {
    effects.frames = context.screen.frames();
    effects.outputs = context.outputs();
    effects.read = context.files.access.read_files();
    effects.warnings = context.warnings();
    effects.asked_input = context.asked_input;
    effects.asked_loops = context.asked_loops;
    if (const auto found = context.screen.comparison()) {
      effects.compared = Compared{found->compared, found->equal, found->missing, found->max_difference};
    }
  }
  return effects;
}

/// Throw RunError if the input that was read is empty.
template <class World>
void check_input(const World& context) {
  if constexpr (requires { context.check_input(); }) {
    context.check_input();
  }
}

}  // namespace dse
