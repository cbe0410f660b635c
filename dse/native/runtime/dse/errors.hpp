// Errors of what a user gives to the program: what is wrong, where, what to do; printed as dse/base/diagnostics.py
// does.
#pragma once

#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dse/terminal.hpp"
#include "dse/utf8.hpp"

namespace dse {

inline constexpr int exit_failed = 1;
inline constexpr int exit_usage = 2;
inline constexpr int exit_deadlock = 3;
inline constexpr int exit_reader_gone = 141;  // 128 + SIGPIPE

/// A range of characters in a file. Lines and columns count from 1, the end is exclusive; line 0: the file as a whole;
/// an empty path: no file.
struct Place {
  std::string path = {};
  std::int64_t line = 0;
  std::int64_t column = 1;
  std::int64_t end_line = 0;
  std::int64_t end_column = 1;
};

struct Diagnostic {
  std::string message;
  Place place = {};
  std::string expected = {};  // what was expected, or what to do; may be empty
  bool is_warning = false;
};

/// What a user gave is wrong.
class ConfigError : public std::exception {
 public:
  explicit ConfigError(std::vector<Diagnostic> diagnostics, int exit_code = exit_usage)
      : diagnostics_(std::move(diagnostics)), exit_code_(exit_code) {}
  explicit ConfigError(Diagnostic diagnostic, int exit_code = exit_usage)
      : ConfigError(std::vector<Diagnostic>{std::move(diagnostic)}, exit_code) {}

  const char* what() const noexcept override {
    return diagnostics_.empty() ? "wrong input" : diagnostics_.front().message.c_str();
  }
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }
  int exit_code() const { return exit_code_; }

 private:
  std::vector<Diagnostic> diagnostics_;
  int exit_code_;
};

/// Throw what was gathered, in the order of its lines, if any of it is an error.
inline void raise_errors(std::vector<Diagnostic> found) {
  if (std::all_of(found.begin(), found.end(), [](const Diagnostic& d) { return d.is_warning; })) return;
  std::stable_sort(found.begin(), found.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return std::pair(a.place.line, a.place.column) < std::pair(b.place.line, b.place.column);
  });
  throw ConfigError(std::move(found));
}

namespace detail {

inline constexpr std::int64_t excerpt_characters = 240;  // of a longer source line only so much is shown

/// Return a line of an ordinary file, as it is; empty where there is none.
inline std::string line_of_file(const std::string& path, std::int64_t number) {
  struct stat status = {};
  const bool ordinary = ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
  std::FILE* file = ordinary ? std::fopen(path.c_str(), "rb") : nullptr;
  if (file == nullptr) {
    return "";
  }
  std::string line;
  std::int64_t current = 1;
  for (int c = std::getc(file); c != EOF && current <= number; c = std::getc(file)) {
    if (c == '\n') {
      ++current;
    } else if (current == number) {
      line += static_cast<char>(c);
    }
  }
  std::fclose(file);
  if (!line.empty() && line.back() == '\r') {
    line.pop_back();
  }
  return line;
}

/// Return a text with all that does not print replaced, but tabs.
inline std::string shown_with_tabs(std::string_view text) { return shown_but(text, "\t"); }

/// Return blanks as wide as a text, tabs as they are.
inline std::string blanks_below(std::string_view text) {
  std::string result;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\t', begin), text.size());
    result.append(static_cast<std::size_t>(cells(text.substr(begin, end - begin))), ' ');
    if (end < text.size()) result += '\t';
    begin = end + 1;
  }
  return result;
}

/// A line as it is shown, cut around the marked part if it is long. `column` counts from 0.
struct Excerpt {
  std::string text;
  std::int64_t column;
  std::int64_t width;
};

inline Excerpt cut_around_mark(const Excerpt& whole) {
  const std::int64_t length = count_characters(whole.text);
  if (length <= excerpt_characters) return whole;
  const std::int64_t wanted = std::min(whole.column - excerpt_characters / 4, length - excerpt_characters);
  const std::int64_t first = std::max<std::int64_t>(0, wanted);
  const std::int64_t last = std::min(length, first + excerpt_characters);
  const std::string left = first > 0 ? "..." : "", right = last < length ? "..." : "";
  const std::int64_t width = std::max<std::int64_t>(1, std::min(whole.width, last - whole.column));
  return {left + std::string(characters(whole.text, first, last - first)) + right,
          whole.column - first + (first > 0 ? 3 : 0), width};
}

/// Return the source line of a place and the caret line below it; nothing where the file cannot be read.
inline std::string excerpt_of(const Place& place) {
  const std::string text = shown_with_tabs(line_of_file(place.path, place.line));
  if (text.find_first_not_of(" \t") == text.npos) return "";
  const std::int64_t length = count_characters(text);
  const std::int64_t end = place.end_line == place.line ? place.end_column : length + 1;
  const Excerpt cut = cut_around_mark({text, place.column - 1, std::max<std::int64_t>(1, end - place.column)});
  const std::string_view marked = characters(cut.text, cut.column, cut.width);
  const std::int64_t carets = std::max<std::int64_t>(1, cut.width - count_characters(marked) + cells(marked));
  return "\n    " + cut.text + "\n    " + blanks_below(characters(cut.text, 0, cut.column)) +
         std::string(static_cast<std::size_t>(carets), '^');
}

}  // namespace detail

/// Return a place as PATH:LINE:COLUMN, or the path alone where the file is meant as a whole.
inline std::string place_text(const Place& place) {
  if (place.line == 0) return place.path;
  return place.path + ":" + std::to_string(place.line) + ":" + std::to_string(place.column);
}

/// Return the text of a diagnostic: place, message, source line and caret, what was expected. All of it is harmless.
inline std::string render(const Diagnostic& diagnostic) {
  const std::string kind = diagnostic.is_warning ? "warning: " : "error: ";
  std::string text = kind + shown_message(diagnostic.message);
  if (!diagnostic.place.path.empty()) {
    text = shown(place_text(diagnostic.place)) + ": " + text;
    if (diagnostic.place.line > 0) text += detail::excerpt_of(diagnostic.place);
  }
  if (!diagnostic.expected.empty()) text += "\n  = " + shown_message(diagnostic.expected);
  return text;
}

}  // namespace dse
