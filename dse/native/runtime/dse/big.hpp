// Integers without bound. Few programs need one: where an intermediate result may leave 128 bits, and for containers
// wider than that. One machine word is kept without an allocation, and most values that get here fit in it.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "dse/fixed_list.hpp"
#include "dse/where.hpp"

namespace DSE_SPACE {

__extension__ using i128 = __int128;
__extension__ using u128 = unsigned __int128;

/// Every integer that the compiler knows; std::integral leaves out those of 128 bits in strict modes.
template <class T>
concept Integer = std::integral<T> || std::same_as<T, i128> || std::same_as<T, u128>;

/// An integer of any size, in two's complement.
class Big {
 public:
  using Limb = std::uint64_t;
#ifdef DSE_ON_DEVICE
  static constexpr std::size_t most_limbs = 72;  // a shift gives up to 65; what needs more is a fault there
  using Limbs = FixedList<Limb, most_limbs>;
  using Halves = FixedList<std::uint32_t, 2 * most_limbs + 2>;
#else
  using Limbs = std::vector<Limb>;
  using Halves = std::vector<std::uint32_t>;
#endif

  DSE_FN Big() {}

  template <Integer T>
  DSE_FN Big(T value) {  // NOLINT: as the built-in integers convert into each other
    if (static_cast<T>(static_cast<std::int64_t>(value)) == value && (value < 0) == (static_cast<std::int64_t>(value) < 0)) {
      small_ = static_cast<std::int64_t>(value);
    } else {
      const auto bits = static_cast<u128>(value);
      const Limb sign = value < 0 ? ~Limb{0} : Limb{0};
      limbs_ = {static_cast<Limb>(bits), sizeof(T) > 8 ? static_cast<Limb>(bits >> 64) : sign, sign};
      normalize();
    }
  }

  /// From limbs in two's complement, the lowest first; the highest bit is the sign.
  DSE_FN explicit Big(Limbs limbs) : limbs_(std::move(limbs)) { normalize(); }

  /// The integer part of a number that is neither infinite nor NaN.
  DSE_APART static Big truncated(double value) {
    int exponent = 0;
    const double fraction = std::frexp(std::trunc(value), &exponent);  // |fraction| in [1/2, 1), or 0
    const Big mantissa(static_cast<std::int64_t>(std::ldexp(fraction, 53)));
    return exponent >= 53 ? mantissa << (exponent - 53) : Big(static_cast<std::int64_t>(value));
  }

  DSE_FN bool is_negative() const { return limbs_.empty() ? small_ < 0 : top_is_negative(limbs_); }
  DSE_FN bool is_zero() const { return limbs_.empty() && small_ == 0; }

  /// The value modulo 2^64.
  DSE_FN Limb low_bits() const { return limb(0); }

  DSE_FN explicit operator std::uint64_t() const { return low_bits(); }

  /// The value wrapped to an integer type of the machine.
  template <Integer T>
  DSE_FN T wrapped() const {
    return static_cast<T>((static_cast<u128>(limb(1)) << 64) | limb(0));
  }

  /// The value wrapped to a container of `bits` bits.
  DSE_APART Big wrapped(int bits, bool is_signed) const {
    const int whole = bits / 64, rest = bits % 64;
    Limbs kept;
    DSE_LOOP for (int k = 0; k < whole + (rest != 0); ++k) {
      kept.push_back(limb(static_cast<std::size_t>(k)));
    }
    if (rest != 0) {
      const Limb sign = is_signed && ((kept.back() >> (rest - 1)) & 1) != 0 ? ~Limb{0} : Limb{0};
      kept.back() = (kept.back() & ((Limb{1} << rest) - 1)) | (sign << rest);
    }
    if (!is_signed || kept.empty()) {
      kept.push_back(0);
    }
    return Big(std::move(kept));
  }

  /// The nearest double, ties to even; infinite where the value is beyond their range.
  DSE_APART double real() const {
    if (limbs_.empty()) {
      return static_cast<double>(small_);
    }
    const Limbs magnitude = this->magnitude();
    const int bits = bit_length(magnitude);
    // The first 64 bits, the last of them set if any bit below is: they round as the whole does.
    const int dropped = bits - 64;
    Limb top = 0;
    bool inexact = false;
    DSE_LOOP for (int k = 0; k < bits; ++k) {
      const bool bit = ((magnitude[static_cast<std::size_t>(k / 64)] >> (k % 64)) & 1) != 0;
      if (k < dropped) {
        inexact = inexact || bit;
      } else if (bit) {
        top |= Limb{1} << (k - std::max(dropped, 0));
      }
    }
    const double value = std::ldexp(static_cast<double>(top | (inexact ? 1U : 0U)), std::max(dropped, 0));
    return is_negative() ? -value : value;
  }

#ifndef DSE_ON_DEVICE
  std::string text() const {
    if (limbs_.empty()) {
      return std::to_string(small_);
    }
    Halves rest = halves(magnitude());
    std::string digits;
    DSE_LOOP while (!rest.empty()) {
      std::uint32_t nine = divide_by_word(rest, 1000000000U);
      DSE_LOOP for (int k = 0; k < 9 && (nine != 0 || !rest.empty()); ++k, nine /= 10) {
        digits += static_cast<char>('0' + nine % 10);
      }
    }
    if (is_negative()) {
      digits += '-';
    }
    std::reverse(digits.begin(), digits.end());
    return digits;
  }
#endif

  DSE_APART friend Big operator+(const Big& a, const Big& b) {
    std::int64_t sum = 0;
    if (both_small(a, b) && !__builtin_add_overflow(a.small_, b.small_, &sum)) {
      return Big(sum);
    }
    return added(a, b, false);
  }

  DSE_APART friend Big operator-(const Big& a, const Big& b) {
    std::int64_t difference = 0;
    if (both_small(a, b) && !__builtin_sub_overflow(a.small_, b.small_, &difference)) {
      return Big(difference);
    }
    return added(a, b, true);
  }

  DSE_APART friend Big operator*(const Big& a, const Big& b) {
    if (both_small(a, b)) {
      return Big(static_cast<i128>(a.small_) * b.small_);
    }
    const Limbs x = a.magnitude(), y = b.magnitude();
    Limbs product(x.size() + y.size() + 1, 0);
    DSE_LOOP for (std::size_t i = 0; i != x.size(); ++i) {
      u128 carry = 0;
      DSE_LOOP for (std::size_t j = 0; j != y.size(); ++j) {
        carry += static_cast<u128>(x[i]) * y[j] + product[i + j];
        product[i + j] = static_cast<Limb>(carry);
        carry >>= 64;
      }
      product[i + y.size()] = static_cast<Limb>(carry);
    }
    return with_sign(std::move(product), a.is_negative() != b.is_negative());
  }

  /// Truncates toward zero. The divisor is not 0.
  DSE_APART friend Big operator/(const Big& a, const Big& b) {
    if (both_small(a, b)) {
      return Big(static_cast<i128>(a.small_) / b.small_);
    }
    return with_sign(divided(a, b).first, a.is_negative() != b.is_negative());
  }

  /// Has the sign of the dividend. The divisor is not 0.
  DSE_APART friend Big operator%(const Big& a, const Big& b) {
    if (both_small(a, b)) {
      return Big(static_cast<i128>(a.small_) % b.small_);
    }
    return with_sign(divided(a, b).second, a.is_negative());
  }

  DSE_FN friend Big operator&(const Big& a, const Big& b) {
    return bitwise(a, b, [](Limb x, Limb y) { return x & y; });
  }
  DSE_FN friend Big operator|(const Big& a, const Big& b) {
    return bitwise(a, b, [](Limb x, Limb y) { return x | y; });
  }
  DSE_FN friend Big operator^(const Big& a, const Big& b) {
    return bitwise(a, b, [](Limb x, Limb y) { return x ^ y; });
  }
  DSE_FN Big operator~() const { return Big(-1) - *this; }
  DSE_FN Big operator-() const { return Big(0) - *this; }

  /// The count is not negative.
  DSE_APART friend Big operator<<(const Big& a, std::int64_t count) {
    if (a.limbs_.empty() && count < 63) {
      return Big(static_cast<i128>(a.small_) << count);
    }
    const auto whole = static_cast<std::size_t>(count / 64);
    const auto rest = static_cast<int>(count % 64);
    Limbs shifted(whole, 0);
    DSE_LOOP for (std::size_t k = 0; k <= a.size(); ++k) {
      const Limb below = k == 0 || rest == 0 ? 0 : a.limb(k - 1) >> (64 - rest);
      shifted.push_back((a.limb(k) << rest) | below);
    }
    return Big(std::move(shifted));
  }

  /// Rounds toward minus infinity. The count is not negative.
  DSE_APART friend Big operator>>(const Big& a, std::int64_t count) {
    if (a.limbs_.empty()) {
      return Big(a.small_ >> std::min<std::int64_t>(count, 63));
    }
    const auto whole = static_cast<std::size_t>(std::min<std::int64_t>(count / 64, static_cast<std::int64_t>(a.size())));
    const auto rest = static_cast<int>(count % 64);
    Limbs shifted;
    DSE_LOOP for (std::size_t k = whole; k <= std::max(a.size(), whole); ++k) {
      const Limb above = rest == 0 ? 0 : a.limb(k + 1) << (64 - rest);
      shifted.push_back((a.limb(k) >> rest) | above);
    }
    return Big(std::move(shifted));
  }

  DSE_FN Big& operator++() { return *this = *this + Big(1); }

  DSE_APART friend bool operator==(const Big& a, const Big& b) { return a.small_ == b.small_ && a.limbs_ == b.limbs_; }
  DSE_APART friend std::strong_ordering operator<=>(const Big& a, const Big& b) {
    if (both_small(a, b)) {
      return a.small_ <=> b.small_;
    }
    if (a.is_negative() != b.is_negative()) {
      return b.is_negative() <=> a.is_negative();
    }
    DSE_LOOP for (std::size_t k = std::max(a.size(), b.size()); k-- > 0;) {
      if (a.limb(k) != b.limb(k)) {
        return a.limb(k) <=> b.limb(k);
      }
    }
    return 0 <=> 0;  // the constant has no place in the memory of a GPU
  }

 private:
  DSE_FN static bool both_small(const Big& a, const Big& b) { return a.limbs_.empty() && b.limbs_.empty(); }
  DSE_FN static bool top_is_negative(const Limbs& limbs) { return (limbs.back() >> 63) != 0; }

  DSE_FN std::size_t size() const { return std::max<std::size_t>(limbs_.size(), 1); }

  /// Limb `k`, those above the highest being its sign.
  DSE_FN Limb limb(std::size_t k) const {
    if (limbs_.empty()) {
      return k == 0 ? static_cast<Limb>(small_) : static_cast<Limb>(small_ >> 63);
    }
    return k < limbs_.size() ? limbs_[k] : (top_is_negative(limbs_) ? ~Limb{0} : Limb{0});
  }

  /// Drop the limbs that only repeat the sign; a single one is kept as a word.
  DSE_APART void normalize() {
    DSE_LOOP while (limbs_.size() > 1) {
      const Limb sign = (limbs_[limbs_.size() - 2] >> 63) != 0 ? ~Limb{0} : Limb{0};
      if (limbs_.back() != sign) {
        return;
      }
      limbs_.pop_back();
    }
    small_ = limbs_.empty() ? 0 : static_cast<std::int64_t>(limbs_[0]);
    limbs_.clear();
  }

  DSE_APART static Big added(const Big& a, const Big& b, bool subtract) {
    Limbs sum;
    u128 carry = subtract ? 1 : 0;
    DSE_LOOP for (std::size_t k = 0; k <= std::max(a.size(), b.size()); ++k) {
      carry += static_cast<u128>(a.limb(k)) + (subtract ? ~b.limb(k) : b.limb(k));
      sum.push_back(static_cast<Limb>(carry));
      carry >>= 64;
    }
    return Big(std::move(sum));
  }

  template <class Operation>
  DSE_FN static Big bitwise(const Big& a, const Big& b, Operation operation) {
    if (both_small(a, b)) {
      return Big(static_cast<std::int64_t>(operation(static_cast<Limb>(a.small_), static_cast<Limb>(b.small_))));
    }
    Limbs result;
    DSE_LOOP for (std::size_t k = 0; k != std::max(a.size(), b.size()); ++k) {
      result.push_back(operation(a.limb(k), b.limb(k)));
    }
    return Big(std::move(result));
  }

  /// The limbs of the absolute value, without leading zeros.
  DSE_APART Limbs magnitude() const {
    Limbs found;
    Limb carry = 1;
    DSE_LOOP for (std::size_t k = 0; k <= size(); ++k) {
      const Limb inverted = ~limb(k) + carry;
      found.push_back(is_negative() ? inverted : limb(k));
      carry = carry != 0 && inverted == 0 ? 1 : 0;
    }
    DSE_LOOP while (!found.empty() && found.back() == 0) {
      found.pop_back();
    }
    return found;
  }

  DSE_APART static Big with_sign(Limbs magnitude, bool negative) {
    magnitude.push_back(0);
    const Big value(std::move(magnitude));
    return negative ? -value : value;
  }

  DSE_FN static int bit_length(const Limbs& magnitude) {
    return magnitude.empty() ? 0 : static_cast<int>(magnitude.size()) * 64 - std::countl_zero(magnitude.back());
  }

  DSE_FN static Halves halves(const Limbs& limbs) {
    Halves found;
    DSE_LOOP for (const Limb limb : limbs) {
      found.push_back(static_cast<std::uint32_t>(limb));
      found.push_back(static_cast<std::uint32_t>(limb >> 32));
    }
    trim(found);
    return found;
  }

  DSE_FN static Limbs joined(const Halves& halves) {
    Limbs found((halves.size() + 1) / 2, 0);
    DSE_LOOP for (std::size_t k = 0; k != halves.size(); ++k) {
      found[k / 2] |= static_cast<Limb>(halves[k]) << (k % 2 * 32);
    }
    return found;
  }

  DSE_FN static void trim(Halves& digits) {
    DSE_LOOP while (!digits.empty() && digits.back() == 0) {
      digits.pop_back();
    }
  }

  /// Divide in place; return the remainder.
  DSE_FN static std::uint32_t divide_by_word(Halves& digits, std::uint32_t divisor) {
    std::uint64_t rest = 0;
    DSE_LOOP for (std::size_t k = digits.size(); k-- > 0;) {
      rest = (rest << 32) | digits[k];
      digits[k] = static_cast<std::uint32_t>(rest / divisor);
      rest %= divisor;
    }
    trim(digits);
    return static_cast<std::uint32_t>(rest);
  }

  /// Magnitudes of quotient and remainder.
  DSE_APART static std::pair<Limbs, Limbs> divided(const Big& a, const Big& b) {
    Halves dividend = halves(a.magnitude()), divisor = halves(b.magnitude());
    if (divisor.size() == 1) {
      const std::uint32_t rest = divide_by_word(dividend, divisor[0]);
      return {joined(dividend), Limbs{rest}};
    }
    if (dividend.size() < divisor.size()) {
      return {Limbs{}, joined(dividend)};
    }
    return long_division(std::move(dividend), std::move(divisor));
  }

  /// Knuth, The Art of Computer Programming, volume 2, algorithm D, in base 2^32.
  DSE_FN static std::pair<Limbs, Limbs> long_division(Halves u, Halves v) {
    const int shift = std::countl_zero(v.back());
    shift_digits(v, shift);
    u.push_back(0);
    shift_digits(u, shift);
    const std::size_t n = v.size();
    Halves quotient(u.size() - n, 0);
    DSE_LOOP for (std::size_t j = quotient.size(); j-- > 0;) {
      quotient[j] = next_digit(u, v, j);
    }
    u.resize(n);
    DSE_LOOP for (std::size_t k = 0; k != n; ++k) {
      const std::uint64_t above = k + 1 < n ? u[k + 1] : 0;
      u[k] = static_cast<std::uint32_t>(((above << 32) | u[k]) >> shift);
    }
    return {joined(quotient), joined(u)};
  }

  DSE_FN static void shift_digits(Halves& digits, int shift) {
    std::uint32_t carry = 0;
    DSE_LOOP for (std::uint32_t& digit : digits) {
      const std::uint64_t shifted = (static_cast<std::uint64_t>(digit) << shift) | carry;
      digit = static_cast<std::uint32_t>(shifted);
      carry = static_cast<std::uint32_t>(shifted >> 32);
    }
  }

  /// Return digit `j` of the quotient and take its multiple of the divisor from the dividend (steps D3 to D6).
  DSE_FN static std::uint32_t next_digit(Halves& u, const Halves& v, std::size_t j) {
    constexpr std::uint64_t base = std::uint64_t{1} << 32;
    const std::size_t n = v.size();
    const std::uint64_t top = (static_cast<std::uint64_t>(u[j + n]) << 32) | u[j + n - 1];
    std::uint64_t digit = top / v[n - 1], rest = top % v[n - 1];
    DSE_LOOP while (digit >= base || digit * v[n - 2] > ((rest << 32) | u[j + n - 2])) {
      --digit;
      rest += v[n - 1];
      if (rest >= base) {
        break;
      }
    }
    std::int64_t borrow = 0;
    std::uint64_t carry = 0;
    DSE_LOOP for (std::size_t k = 0; k != n; ++k) {
      carry += digit * v[k];
      const std::int64_t less = static_cast<std::int64_t>(u[j + k]) - static_cast<std::uint32_t>(carry) + borrow;
      u[j + k] = static_cast<std::uint32_t>(less);
      borrow = less >> 32;
      carry >>= 32;
    }
    const std::int64_t last = static_cast<std::int64_t>(u[j + n]) - static_cast<std::int64_t>(carry) + borrow;
    u[j + n] = static_cast<std::uint32_t>(last);
    if (last < 0) {  // one too many: add the divisor back
      --digit;
      std::uint64_t sum = 0;
      DSE_LOOP for (std::size_t k = 0; k != n; ++k) {
        sum += static_cast<std::uint64_t>(u[j + k]) + v[k];
        u[j + k] = static_cast<std::uint32_t>(sum);
        sum >>= 32;
      }
      u[j + n] += static_cast<std::uint32_t>(sum);
    }
    return static_cast<std::uint32_t>(digit);
  }

  std::int64_t small_ = 0;
  Limbs limbs_;  // two's complement, at least two and none too many; empty where one word holds the value
};

}  // namespace DSE_SPACE
