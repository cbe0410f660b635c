// The arithmetic of the language where C++'s own is another: dse/passes/arithmetic.py says what it means.
//
// The emitter computes in a type that holds operands and result, so that nothing overflows; integers wrap where they
// are stored.
#pragma once

#include <algorithm>
#include <cmath>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

#include "dse/big.hpp"
#include "dse/thrown.hpp"
#include "dse/where.hpp"

namespace DSE_SPACE {

using i8 = std::int8_t;
using i16 = std::int16_t;
using i32 = std::int32_t;
using i64 = std::int64_t;
using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

inline constexpr int largest_shift = 4096;  // left shifts by more are shifts by this

#ifdef DSE_ON_DEVICE
[[noreturn]] DSE_FN void fail(const char* message, int site, const char* expected = "");  // of dse/device/fault.hpp
#else
[[noreturn, gnu::cold, gnu::noinline]] inline void fail(const char* message, int site, const char* expected = "") {
  throw Fault(message, site, expected);
}
#endif

[[noreturn]] DSE_FN inline void endless(int site) {
  fail("the program enters a loop without end ('while true')", site, "its input may be wrong");
}

/// A constant beyond 64 bits.
DSE_FN constexpr i128 wide(std::int64_t high, std::uint64_t low) {
  return static_cast<i128>((static_cast<u128>(static_cast<std::uint64_t>(high)) << 64) | low);
}

// Division -------------------------------------------------------------------------------------------------------------

template <class T>
DSE_FN T quotient(const T& a, const std::type_identity_t<T>& b, int site) {
  if (b == T(0)) {
    fail("division by zero", site);
  }
  return a / b;
}

template <class T>
DSE_FN T modulo(const T& a, const std::type_identity_t<T>& b, int site) {
  if (b == T(0)) {
    fail("division by zero", site);
  }
  if constexpr (Integer<T>) {
    return b == -1 ? 0 : a % b;  // the machine divides first, and the quotient of its least value does not fit
  } else {
    return a % b;
  }
}

/// A zero divisor gives an infinite number, or none.
DSE_FN inline double real_quotient(double a, double b) {
  if (b == 0 && (a == 0 || std::isnan(a))) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return a / b;
}

DSE_FN inline double real_modulo(double a, double b, int site) {
  if (!std::isnan(a) && !std::isnan(b) && (b == 0 || std::isinf(a))) {
    fail("ValueError: math domain error", site);
  }
  return std::fmod(a, b);
}

// Shifts ---------------------------------------------------------------------------------------------------------------

/// The count that a shift is by: one below 0 is masked to 5 bits, or 6 where the value's type has more than 32.
template <class Count>
DSE_FN std::int64_t shift_count(const Count& count, int bits) {
  const int mask = bits > 32 ? 63 : 31;
  if constexpr (std::same_as<Count, Big>) {
    const Big most(std::numeric_limits<std::int64_t>::max());
    return (count < Big(0) ? count & Big(mask) : std::min(count, most)).template wrapped<std::int64_t>();
  } else if constexpr (sizeof(Count) > sizeof(std::int64_t)) {
    const Count most = std::numeric_limits<std::int64_t>::max();
    return static_cast<std::int64_t>(count < 0 ? count & mask : std::min(count, most));
  } else {
    return count < 0 ? count & mask : count;
  }
}

/// `value << count` where the result is known to fit: bits beyond the type are those of a zero.
template <Integer T, class Count>
DSE_FN T shift_left(T value, const Count& count, int bits) {
  const std::int64_t by = shift_count(count, bits);
  return by < static_cast<std::int64_t>(sizeof(T)) * 8 ? static_cast<T>(value << by) : T(0);
}

template <class Count>
DSE_FN Big shift_left(const Big& value, const Count& count, int bits) {
  return value << std::min<std::int64_t>(shift_count(count, bits), largest_shift);
}

template <Integer T, class Count>
DSE_FN T shift_right(T value, const Count& count, int bits) {
  return static_cast<T>(value >> std::min<std::int64_t>(shift_count(count, bits), sizeof(T) * 8 - 1));
}

template <class Count>
DSE_FN Big shift_right(const Big& value, const Count& count, int bits) {
  return value >> shift_count(count, bits);
}

// Conversions ----------------------------------------------------------------------------------------------------------

/// A number as a 64-bit float. One beyond their range is a fault.
DSE_FN inline double real(const Big& value, int site) {
  const double found = value.real();
  if (std::isinf(found)) {
    fail("a value becomes too large", site);
  }
  return found;
}

/// A number rounded to a 32-bit float: integers are rounded to 64 bits first.
template <class T>
DSE_FN float single(const T& value) {
  if constexpr (std::same_as<T, Big>) {
    return static_cast<float>(real(value, -1));
  } else {
    return static_cast<float>(static_cast<double>(value));
  }
}

[[gnu::cold, gnu::noinline]] DSE_FN inline Big far_truncated(double value, int site) {
  if (std::isnan(value)) {
    fail("ValueError: cannot convert float NaN to integer", site);
  }
  if (std::isinf(value)) {
    fail("a value becomes too large", site);
  }
  return Big::truncated(value);
}

/// A float truncated toward zero and wrapped.
template <Integer T>
DSE_FN T truncated(double value, int site) {
  if (value > -9.2e18 && value < 9.2e18) {
    return static_cast<T>(static_cast<std::int64_t>(value));
  }
  return far_truncated(value, site).wrapped<T>();
}

/// The same, not wrapped.
DSE_FN inline Big big_truncated(double value, int site) { return far_truncated(value, site); }

/// A value of a scalar type stored as another; no float becomes an integer.
template <class To, class From>
DSE_FN To stored(const From& value) {
  if constexpr (std::same_as<To, From>) {
    return value;
  } else if constexpr (std::same_as<To, float>) {
    return single(value);
  } else if constexpr (std::same_as<From, Big> && Integer<To>) {
    return value.template wrapped<To>();
  } else if constexpr (std::same_as<From, Big> && std::same_as<To, double>) {
    return real(value, -1);
  } else {
    return static_cast<To>(value);
  }
}

/// The result of a native as an integer of the program.
template <Integer To, class From>
DSE_FN To as_integer(const From& value, int site) {
  if constexpr (std::floating_point<From>) {
    return truncated<To>(value, site);
  } else {
    return stored<To>(value);
  }
}

// Comparison of integers that no float holds, without rounding ----------------------------------------------------------

DSE_FN inline std::partial_ordering order(const Big& a, double b) {
  if (std::isnan(b)) {
    return b <=> b;
  }
  if (std::isinf(b)) {
    return 0.0 <=> b;
  }
  const std::strong_ordering whole = a <=> Big::truncated(b);
  const double rest = b - std::trunc(b);
  return whole != 0 || rest == 0 ? std::partial_ordering(whole)
                                 : 0.0 <=> rest;
}

DSE_FN inline std::partial_ordering order(double a, const Big& b) { return 0 <=> order(b, a); }

#ifndef DSE_ON_DEVICE
// Recursion --------------------------------------------------------------------------------------------------------------

/// How deep the routines of an actor that call themselves are nested.
struct Recursion {
  int depth = 0;
  const char* outermost = nullptr;  // where the stack was at the first call
};

/// One call of such a routine. The bound is about that of the Python execution, and well inside of a thread's stack.
class Depth {
 public:
  Depth(Recursion& recursion, int site) : recursion_(recursion) {
    const char* here = static_cast<const char*>(__builtin_frame_address(0));
    if (recursion.depth == 0) {
      recursion.outermost = here;
    }
    if (recursion.depth >= most_calls || recursion.outermost - here > most_stack_bytes) {
      fail("the recursion is too deep", site);
    }
    ++recursion.depth;
  }
  Depth(const Depth&) = delete;
  Depth& operator=(const Depth&) = delete;
  ~Depth() { --recursion_.depth; }

 private:
  static constexpr int most_calls = 960;
  static constexpr std::ptrdiff_t most_stack_bytes = 4 << 20;

  Recursion& recursion_;
};
#endif

}  // namespace DSE_SPACE
