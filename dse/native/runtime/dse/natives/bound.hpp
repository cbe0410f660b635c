// What a function of the user gives, as the type that the native declares.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

namespace dse::natives {

/// Returns a result as the type of the declaration; a function that gives something else does not compile.
template <class To, class From>
To given(const From& result) {
  if constexpr (std::is_same_v<To, std::string>) {
    static_assert(std::is_convertible_v<From, To>, "the function has to give a std::string");
  } else if constexpr (std::is_same_v<To, double>) {
    static_assert(std::is_arithmetic_v<From>, "the function has to give a number");
  } else {
    static_assert(std::is_integral_v<From>, "the function has to give an integer or a bool");
  }
  return static_cast<To>(result);
}

}  // namespace dse::natives
