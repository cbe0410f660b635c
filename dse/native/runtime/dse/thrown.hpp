// Places in the program, and how its operations and natives fail or end.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace dse {

/// A range of characters in a source file; lines and columns count from 1, line 0 stands for no place. `name` is the
/// list that is accessed there, or "".
struct Site {
  const char* path = "<none>";
  int line = 0;
  int column = 0;
  int end_line = 0;
  int end_column = 0;
  const char* name = "";
};

/// What was wrong with an operation of the program, as a division by zero. `site` is an index into the sites of the
/// actor; -1 is the last one that the actor passed to `Actor::at`.
struct Fault : std::runtime_error {
  explicit Fault(const std::string& message, int site = -1, std::string expected = "")
      : std::runtime_error(message), site(site), expected(std::move(expected)) {}
  int site;
  std::string expected;  // what to do about it, or ""
};

/// A native source has no more samples: the actor that called it ends, the others run on.
struct SourceExhausted {};

/// A native ends the program; `frames`: because enough pictures were shown.
struct ProgramExit {
  int exit_code = 0;
  bool frames = false;
};

/// The program says what is wrong with its input: the place is in the input, not in the program.
struct InputRefused : std::runtime_error {
  explicit InputRefused(const std::string& message, std::string expected = "")
      : std::runtime_error(message), expected(std::move(expected)) {}
  std::string expected;  // what to do about it, or ""
};

}  // namespace dse
