// How natives read and fill the lists that they are given, whatever the elements are stored in.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "dse/lists.hpp"
#include "dse/natives/open_file.hpp"

namespace dse::natives {

/// Returns the number of elements of all dimensions.
template <class T, int D>
std::int64_t elements_of(const View<T, D>& list) {
  std::int64_t count = 1;
  for (const std::int64_t size : list.sizes) count *= size;
  return count;
}

template <class T>
std::uint8_t low_byte(const T& value) {
  return static_cast<std::uint8_t>(static_cast<std::uint64_t>(value) & 0xFF);
}

/// Returns where a slice `list[:count]` ends: a negative count is one from the end, as in Python.
inline std::int64_t slice_end(std::int64_t count, std::int64_t length) {
  return count < 0 ? std::max<std::int64_t>(length + count, 0) : std::min(count, length);
}

/// Returns the low bytes of the first `count` elements; `store` holds them where the list itself does not.
template <class T, int D>
Bytes bytes_of(const View<T, D>& list, std::int64_t count, std::vector<std::uint8_t>& store) {
  const auto n = static_cast<std::size_t>(std::clamp<std::int64_t>(count, 0, elements_of(list)));
  if constexpr (std::is_same_v<std::remove_const_t<T>, std::uint8_t>) {
    return {list.data, n};
  } else {
    store.resize(n);
    std::transform(list.data, list.data + n, store.begin(), [](const T& value) { return low_byte(value); });
    return store;
  }
}

/// Copies bytes over the first elements; there must not be more of them than elements.
template <class T>
void fill(const View<T, 1>& list, Bytes data) {
  if constexpr (std::is_same_v<T, std::uint8_t>) {
    if (!data.empty()) std::memcpy(list.data, data.data(), data.size());
  } else {
    std::transform(data.begin(), data.end(), list.data, [](std::uint8_t byte) { return static_cast<T>(byte); });
  }
}

}  // namespace dse::natives
