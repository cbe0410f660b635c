// Text of unknown origin made harmless for a terminal, as dse/base/escaping.py does it. Names, paths and messages come
// from files that others wrote; a terminal obeys the control characters in them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "dse/characters.hpp"
#include "dse/utf8.hpp"

namespace dse {

namespace detail {

inline bool is_plain(char c) { return c >= ' ' && c <= '~'; }

/// Return a text with each character replaced that neither prints nor is one of `kept`.
inline std::string shown_but(std::string_view text, std::string_view kept) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    const bool stays = is_plain(text[at]) || kept.find(text[at]) != kept.npos ||
                       (point.value != invalid_byte && lies_in(printable_characters, point.value));
    result += stays ? text.substr(at, point.bytes) : replacement;
    at += point.bytes;
  }
  return result;
}

}  // namespace detail

/// Return a text for one line of a terminal: each character that does not print becomes U+FFFD.
inline std::string shown(std::string_view text) { return detail::shown_but(text, ""); }

/// Return a text as `shown`, but a line end stays where two blanks follow: so a message goes on in a new line.
inline std::string shown_message(std::string_view text) {
  constexpr std::string_view joint = "\n  ";
  std::string result;
  for (;;) {
    const std::size_t end = text.find(joint);
    result += shown(text.substr(0, end));
    if (end == text.npos) return result;
    result += joint;
    text.remove_prefix(end + joint.size());
  }
}

/// Return a text for several lines of a terminal: as `shown`, but line ends and tabs stay.
inline std::string shown_lines(std::string_view text) {
  std::string joined;
  joined.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\r' && at + 1 < text.size() && text[at + 1] == '\n') continue;
    joined += text[at];
  }
  return detail::shown_but(joined, "\n\t");
}

/// Return how many columns of a terminal a printable text takes: wide characters two, combining ones none.
inline std::int64_t cells(std::string_view text) {
  std::int64_t count = 0;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    at += point.bytes;
    if (point.value < 0x300 || point.value == invalid_byte) {
      ++count;
    } else if (!lies_in(combining_characters, point.value)) {
      count += lies_in(wide_characters, point.value) ? 2 : 1;
    }
  }
  return count;
}

}  // namespace dse
