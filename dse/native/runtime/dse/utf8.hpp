// UTF-8: code points of a text, one after the other. Bytes that are no UTF-8 count as one character each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace dse {

inline constexpr char32_t invalid_byte = 0xFFFFFFFF;
inline constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD

struct CodePoint {
  char32_t value;  // invalid_byte where there is no character
  std::size_t bytes;
};

namespace detail {

/// Return the length that the first byte of a sequence announces, and its lowest legal code point; 0 where it is none.
struct Lead {
  std::size_t bytes;
  char32_t bits;
  char32_t lowest;
};

inline Lead lead_of(unsigned char byte) {
  if (byte < 0x80) return {1, byte, 0};
  if (byte >= 0xC2 && byte < 0xE0) return {2, byte & 0x1FU, 0x80};
  if (byte >= 0xE0 && byte < 0xF0) return {3, byte & 0x0FU, 0x800};
  if (byte >= 0xF0 && byte < 0xF5) return {4, byte & 0x07U, 0x10000};
  return {0, 0, 0};
}

}  // namespace detail

/// Return the code point at a position, which must lie inside of the text.
inline CodePoint code_point_at(std::string_view text, std::size_t at) {
  const detail::Lead lead = detail::lead_of(static_cast<unsigned char>(text[at]));
  if (lead.bytes == 0 || at + lead.bytes > text.size()) return {invalid_byte, 1};
  char32_t value = lead.bits;
  for (std::size_t k = 1; k < lead.bytes; ++k) {
    const auto next = static_cast<unsigned char>(text[at + k]);
    if ((next & 0xC0) != 0x80) return {invalid_byte, 1};
    value = (value << 6) | (next & 0x3FU);
  }
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (value < lead.lowest || value > 0x10FFFF || surrogate) return {invalid_byte, 1};
  return {value, lead.bytes};
}

/// Append a code point, which must be one, to a text.
inline void append_utf8(std::string& text, char32_t value) {
  const auto tail = [&](int shift) { text += static_cast<char>(0x80 | ((value >> shift) & 0x3F)); };
  if (value < 0x80) {
    text += static_cast<char>(value);
  } else if (value < 0x800) {
    text += static_cast<char>(0xC0 | (value >> 6));
    tail(0);
  } else if (value < 0x10000) {
    text += static_cast<char>(0xE0 | (value >> 12));
    tail(6);
    tail(0);
  } else {
    text += static_cast<char>(0xF0 | (value >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

/// Return how many characters a text has.
inline std::int64_t count_characters(std::string_view text) {
  std::int64_t count = 0;
  for (std::size_t at = 0; at < text.size(); at += code_point_at(text, at).bytes) ++count;
  return count;
}

/// Return the characters of a text from `first` on, at most `count` of them; bytes that are no UTF-8 stay as they are.
inline std::string_view characters(std::string_view text, std::int64_t first, std::int64_t count) {
  std::size_t begin = 0;
  for (; first > 0 && begin < text.size(); --first) begin += code_point_at(text, begin).bytes;
  std::size_t end = begin;
  for (; count > 0 && end < text.size(); --count) end += code_point_at(text, end).bytes;
  return text.substr(begin, end - begin);
}

/// Return a text cut to a length that fits a message.
inline std::string shortened(std::string_view text) {
  return count_characters(text) <= 40 ? std::string(text) : std::string(characters(text, 0, 37)) + "...";
}

}  // namespace dse
