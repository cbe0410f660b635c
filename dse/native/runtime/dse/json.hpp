// Writing JSON: in printable ASCII, integers exact. Bytes of a text that are no UTF-8 become \udc80 to \udcff, as
// Python has them in the names of files.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "dse/utf8.hpp"

namespace dse {

/// Return a text as a JSON string, with its quotes.
inline std::string json_string(std::string_view text) {
  std::string result = "\"";
  const auto escape = [&](char32_t unit) {
    char piece[8];
    std::snprintf(piece, sizeof piece, "\\u%04x", static_cast<unsigned>(unit & 0xFFFF));
    result += piece;
  };
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    if (point.value == '"' || point.value == '\\') {
      result += '\\';
      result += text[at];
    } else if (point.value >= ' ' && point.value <= '~') {
      result += text[at];
    } else if (point.value == invalid_byte) {
      escape(0xDC00 + static_cast<unsigned char>(text[at]));
    } else if (point.value > 0xFFFF) {
      escape(0xD800 + ((point.value - 0x10000) >> 10));
      escape(0xDC00 + ((point.value - 0x10000) & 0x3FF));
    } else {
      escape(point.value);
    }
    at += point.bytes;
  }
  return result + '"';
}

/// Writes one document, piece by piece; commas are put where they belong.
class JsonWriter {
 public:
  JsonWriter& key(std::string_view name) {
    separate();
    text_ += json_string(name) + ": ";
    after_key_ = true;
    return *this;
  }

  JsonWriter& open_object() { return open('{'); }
  JsonWriter& open_list() { return open('['); }
  JsonWriter& close_object() { return close('}'); }
  JsonWriter& close_list() { return close(']'); }

  JsonWriter& null() { return piece("null"); }
  JsonWriter& value(std::string_view text) { return piece(json_string(text)); }
  JsonWriter& value(const std::string& text) { return value(std::string_view(text)); }
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(std::same_as<bool> auto truth) { return piece(truth ? "true" : "false"); }
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  JsonWriter& value(T number) {
    return piece(std::to_string(number));
  }

  /// Write a number that ends, with 17 digits, so that it is read back as it is; null for another.
  JsonWriter& value(double number) {
    char text[32];
    std::snprintf(text, sizeof text, "%.17g", number);
    return piece(std::isfinite(number) ? text : "null");
  }

  template <class T>
  JsonWriter& list(const std::vector<T>& items) {
    open_list();
    for (const T& item : items) {
      value(item);
    }
    return close_list();
  }

  /// Return what was written so far.
  const std::string& text() const { return text_; }

 private:
  void separate() {
    if (!first_ && !after_key_) {
      text_ += ", ";
    }
    first_ = false;
    after_key_ = false;
  }

  JsonWriter& piece(std::string_view text) {
    separate();
    text_ += text;
    return *this;
  }

  JsonWriter& open(char bracket) {
    separate();
    text_ += bracket;
    first_ = true;
    return *this;
  }

  JsonWriter& close(char bracket) {
    text_ += bracket;
    first_ = false;
    return *this;
  }

  std::string text_;
  bool first_ = true;
  bool after_key_ = false;
};

}  // namespace dse
