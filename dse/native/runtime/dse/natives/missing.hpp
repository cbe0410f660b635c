// What stands for a native that has no C++ form, since programs declare many natives that they never call; and for one
// that is a function of the user.
#pragma once

#include <exception>
#include <new>
#include <stdexcept>
#include <utility>

#include "dse/thrown.hpp"

namespace dse::natives {

[[noreturn]] void refuse_call(const char* message, const char* expected);

/// Fails when it is called, with whatever arguments; `Result` is what the native would return.
template <class Result>
struct Missing {
  const char* message;
  const char* expected;

  template <class... Arguments>
  Result operator()(const Arguments&...) const {
    refuse_call(message, expected);
  }
};

/// Throws Fault for what a function of the user threw.
[[noreturn]] void refuse_failure(const char* what, const std::exception& error);

/// Calls a function of the user: what it throws ends the run, with `what` before its text. It may end the run, or its
/// actor, as other natives do.
template <class Function>
auto guarded(const char* what, Function function) {
  return [what, function](const auto&... arguments) {
    try {
      return function(arguments...);
    } catch (const Fault&) {
      throw;
    } catch (const InputRefused&) {
      throw;
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const SourceExhausted&) {
      throw;
    } catch (const ProgramExit&) {
      throw;
    } catch (const std::exception& error) {
      refuse_failure(what, error);
    } catch (...) {
      refuse_failure(what, std::runtime_error("it threw something that is no std::exception"));
    }
  };
}

}  // namespace dse::natives
