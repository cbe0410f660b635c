// Natives that only matter to a simulator, and our own dse.Report.
#pragma once

#include <string>

namespace dse::natives {

class Simulation {
 public:
  template <class... Arguments>
  void nothing(const Arguments&...) const {}
  /// Ends the run: the program says what is wrong with its input, and what to do.
  [[noreturn]] void fail(const std::string& message, const std::string& advice) const;
};

}  // namespace dse::natives
