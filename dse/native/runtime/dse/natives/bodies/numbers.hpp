// Numbers in texts as Python's int() and float() understand them.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

namespace dse::natives::detail {

inline constexpr std::size_t most_digits = 4300;  // Python refuses longer integers

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Returns whether a character of ASCII parts words.
inline bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r') || (c >= '\x1c' && c <= '\x1f'); }

inline std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

/// Returns whether a text starts with a sign, which is taken off.
inline bool take_sign(std::string_view& text) {
  if (text.empty() || (text.front() != '-' && text.front() != '+')) return false;
  const bool negative = text.front() == '-';
  text.remove_prefix(1);
  return negative;
}

/// Takes digits off a text, with single underscores between them; returns them without, nothing if it has none.
inline std::string take_digits(std::string_view& text) {
  std::string digits;
  while (!text.empty()) {
    const bool joins = text.front() == '_' && !digits.empty() && text.size() > 1 && is_digit(text[1]);
    if (!joins && !is_digit(text.front())) break;
    if (!joins) digits += text.front();
    text.remove_prefix(1);
  }
  return digits;
}

/// Returns the digits of a decimal integer with its sign, or nothing for another text.
inline std::optional<std::string> integer_digits(std::string_view text) {
  text = trimmed(text);
  const bool negative = take_sign(text);
  const std::string digits = take_digits(text);
  if (digits.empty() || !text.empty() || digits.size() > most_digits) return std::nullopt;
  return (negative ? "-" : "+") + digits;
}

/// Returns an integer modulo 2^64, or nothing for a text that is none.
inline std::optional<std::int64_t> integer_of(std::string_view text) {
  const std::optional<std::string> digits = integer_digits(text);
  if (!digits) return std::nullopt;
  std::uint64_t value = 0;
  for (const char c : std::string_view(*digits).substr(1)) value = 10 * value + static_cast<std::uint64_t>(c - '0');
  return static_cast<std::int64_t>(digits->front() == '-' ? 0 - value : value);
}

/// Returns the text of a decimal number as the C library reads it, or nothing for another text.
inline std::optional<std::string> plain_number(std::string_view text) {
  std::string plain = take_sign(text) ? "-" : "+";
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  if (lower == "inf" || lower == "infinity" || lower == "nan") return plain + lower;
  const std::string whole = take_digits(text);
  std::string part;
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    part = take_digits(text);
  }
  if (whole.empty() && part.empty()) return std::nullopt;
  plain += whole + "." + part;
  if (!text.empty() && (text.front() == 'e' || text.front() == 'E')) {
    text.remove_prefix(1);
    plain += take_sign(text) ? "e-" : "e+";
    const std::string exponent = take_digits(text);
    if (exponent.empty()) return std::nullopt;
    plain += exponent;
  }
  return text.empty() ? std::optional(plain) : std::nullopt;
}

inline std::optional<double> double_of(std::string_view text) {
  const std::optional<std::string> plain = plain_number(trimmed(text));
  return plain ? std::optional(std::strtod(plain->c_str(), nullptr)) : std::nullopt;
}

}  // namespace dse::natives::detail
