// Numbers that people write, as dse/base/numbers.py reads them: ASCII digits only, exact, bounded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dse {

inline constexpr std::int64_t most_counted = INT64_MAX;            // the most that a count may be
inline constexpr std::int64_t most_tokens = std::int64_t{1} << 40;  // no capacity is larger

/// Return a text without the blanks around it, those of Unicode too.
inline std::string_view stripped(std::string_view text) {
  static constexpr std::string_view blanks[] = {
      " ",            "\t",           "\n",           "\v",           "\f",           "\r",           "\x1c",
      "\x1d",         "\x1e",         "\x1f",         "\xC2\x85",     "\xC2\xA0",     "\xE1\x9A\x80", "\xE2\x80\x80",
      "\xE2\x80\x81", "\xE2\x80\x82", "\xE2\x80\x83", "\xE2\x80\x84", "\xE2\x80\x85", "\xE2\x80\x86", "\xE2\x80\x87",
      "\xE2\x80\x88", "\xE2\x80\x89", "\xE2\x80\x8A", "\xE2\x80\xA8", "\xE2\x80\xA9", "\xE2\x80\xAF", "\xE2\x81\x9F",
      "\xE3\x80\x80"};
  for (bool changed = true; changed;) {
    changed = false;
    for (const std::string_view blank : blanks) {
      if (!text.empty() && text.starts_with(blank)) {
        text.remove_prefix(blank.size());
        changed = true;
      }
      if (!text.empty() && text.ends_with(blank)) {
        text.remove_suffix(blank.size());
        changed = true;
      }
    }
  }
  return text;
}

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Return whether a text is one or more ASCII digits.
inline bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

/// An exact decimal number: `digits` times ten to the power `scale`. The digits neither start nor end with 0; none: 0.
struct Decimal {
  bool negative = false;
  std::string digits = {};
  std::int64_t scale = 0;

  bool is_zero() const { return digits.empty(); }
  bool is_integer() const { return scale >= 0; }
  /// The power of ten that is the first above the number.
  std::int64_t magnitude() const { return static_cast<std::int64_t>(digits.size()) + scale; }
};

namespace detail {

/// Take the digits at the front of a text.
inline std::string_view take_digits(std::string_view& text) {
  std::size_t count = 0;
  while (count < text.size() && is_digit(text[count])) {
    ++count;
  }
  const std::string_view digits = text.substr(0, count);
  text.remove_prefix(count);
  return digits;
}

/// Take a sign at the front of a text; returns whether it is a minus.
inline bool take_sign(std::string_view& text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) {
    text.remove_prefix(1);
  }
  return negative;
}

/// Take an exponent of one or two digits; nothing where the text does not end behind it.
inline std::optional<int> take_exponent(std::string_view text) {
  if (text.empty()) {
    return 0;
  }
  if (text[0] != 'e' && text[0] != 'E') {
    return std::nullopt;
  }
  text.remove_prefix(1);
  const bool negative = take_sign(text);
  if (!is_digits(text) || text.size() > 2) {
    return std::nullopt;
  }
  int value = 0;
  for (const char c : text) {
    value = 10 * value + (c - '0');
  }
  return negative ? -value : value;
}

}  // namespace detail

/// Return the value of a decimal number such as 2900, 12.5 or 1e-3; nothing where a text is none.
inline std::optional<Decimal> parse_decimal(std::string_view text) {
  constexpr std::size_t most_characters = 1000;
  std::string_view rest = stripped(text);
  if (rest.size() > most_characters) {
    return std::nullopt;
  }
  Decimal value;
  value.negative = detail::take_sign(rest);
  const std::string_view whole = detail::take_digits(rest);
  std::string_view fraction;
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    fraction = detail::take_digits(rest);
  }
  const std::optional<int> exponent = detail::take_exponent(rest);
  if (!exponent || (whole.empty() && fraction.empty())) {
    return std::nullopt;
  }
  value.digits = std::string(whole) + std::string(fraction);
  value.scale = *exponent - static_cast<std::int64_t>(fraction.size());
  value.digits.erase(0, value.digits.find_first_not_of('0'));
  const std::size_t kept = value.digits.find_last_not_of('0') + 1;
  value.scale += static_cast<std::int64_t>(value.digits.size() - kept);
  value.digits.resize(kept);
  return value.is_zero() ? Decimal{} : value;
}

/// Return an integer as it is if 64 bits hold it, else the nearest number that they hold.
inline std::int64_t clamped(const Decimal& integer) {
  constexpr std::uint64_t most = static_cast<std::uint64_t>(INT64_MAX);
  std::uint64_t value = integer.magnitude() > 19 ? most : 0;
  if (value == 0) {
    for (const char c : integer.digits + std::string(static_cast<std::size_t>(integer.scale), '0')) {
      value = 10 * value + static_cast<std::uint64_t>(c - '0');  // 19 digits always fit 64 bits without sign
    }
  }
  const auto bounded = static_cast<std::int64_t>(value < most ? value : most);
  return integer.negative ? -bounded : bounded;
}

/// Return the integer that a text of digits is; nothing where it is none, or not from `least` to `most`.
inline std::optional<std::int64_t> integer_from(std::string_view text, std::int64_t least, std::int64_t most) {
  std::string_view digits = stripped(text);
  detail::take_sign(digits);
  if (!is_digits(digits) || digits.size() > 100) {
    return std::nullopt;
  }
  const std::optional<Decimal> number = parse_decimal(text);
  if (!number || number->magnitude() > 19) {
    return std::nullopt;
  }
  const std::int64_t value = clamped(*number);
  const bool exact = value != most_counted && value != -most_counted;
  const bool limit = std::string_view(number->digits) == "9223372036854775807";
  return (exact || limit) && least <= value && value <= most ? std::optional(value) : std::nullopt;
}

}  // namespace dse
