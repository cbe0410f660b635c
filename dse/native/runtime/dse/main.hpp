// The body of `main` of a program. It takes no options but the FIFO size and a bound of the firings so far.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>

#include "dse/engine.hpp"

#if __has_include("dse/context.hpp")
#include "dse/context.hpp"
#else
namespace dse {
class Context {};
}  // namespace dse
#endif

namespace dse {

inline void print_result(const NetworkInfo& network, const RunResult& result) {
  std::printf("%s after %lld firings\n", why_text(result.why), static_cast<long long>(result.n_firings));
  for (std::size_t a = 0; a != result.actions.size(); ++a) {
    for (std::size_t k = 0; k != result.actions[a].size(); ++k) {
      std::printf("%s %s %lld\n", network.actors[a].name, network.actors[a].actions[k].name,
                  static_cast<long long>(result.actions[a][k]));
    }
  }
}

/// Run the network; return the exit code of the program: 0 done, 1 failed, 2 wrong usage, 3 deadlock.
inline int main(int argc, char** argv, const NetworkInfo& network) {
  RunOptions options;
  for (int k = 1; k + 1 < argc; k += 2) {
    const std::string_view name = argv[k];
    if (name == "-s") {
      options.fifo_tokens = std::atoll(argv[k + 1]);
    } else if (name == "--max-firings") {
      options.max_firings = std::atoll(argv[k + 1]);
    } else {
      return 2;
    }
  }
  try {
    Context context;
    const RunResult result = run_network(network, {.options = options, .context = context});
    print_result(network, result);
    return result.deadlock ? 3 : result.exit_code;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}

}  // namespace dse
