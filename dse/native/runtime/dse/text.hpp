// Values as text, as they are printed and appended to Strings.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>

#include "dse/big.hpp"
#include "dse/lists.hpp"
#include "dse/numbers.hpp"

namespace dse {

/// Digits that an integer may have where its text is asked for; the Python execution has this bound.
inline constexpr std::size_t most_digits = 4300;

template <Integer T>
std::string text_of(T value) {
  if constexpr (std::same_as<T, bool>) {
    return value ? "1" : "0";
  } else if constexpr (sizeof(T) > sizeof(std::int64_t)) {
    return Big(value).text();
  } else {
    return std::to_string(value);
  }
}

inline std::string text_of(const Big& value) {
  std::string text = value.text();
  if (text.size() - (text[0] == '-') > most_digits) {
    throw Fault("ValueError: Exceeds the limit (4300 digits) for integer string conversion; use "
                "sys.set_int_max_str_digits() to increase the limit");
  }
  return text;
}

/// As C's %f prints it.
inline std::string text_of(double value) {
  if (std::isnan(value)) {
    return "nan";
  }
  char text[400];  // the largest double has 309 digits before the point
  const int length = std::snprintf(text, sizeof text, "%f", value);
  return std::string(text, static_cast<std::size_t>(length));
}

inline std::string text_of(float value) { return text_of(static_cast<double>(value)); }
inline const std::string& text_of(const std::string& value) { return value; }

/// The elements between brackets.
template <class T, int D>
std::string text_of(const View<T, D>& list) {
  std::string text = "[";
  for (std::int64_t k = 0; k != list.size(); ++k) {
    text += k == 0 ? "" : ", ";
    text += text_of(list(k));
  }
  return text + "]";
}

}  // namespace dse
