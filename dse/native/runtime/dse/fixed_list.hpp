// A list with a bounded number of elements, in place: what stands for std::vector on a GPU.
#pragma once

#ifdef DSE_ON_DEVICE

#include <cstddef>
#include <initializer_list>

#include "dse/where.hpp"

namespace DSE_SPACE {

[[noreturn]] DSE_FN void fail(const char* message, int site, const char* expected);

/// The members of std::vector that `Big` uses. One element too many is a fault. Only elements in use are copied.
template <class T, std::size_t Most>
class FixedList {
 public:
  DSE_FN FixedList() {}
  DSE_FN FixedList(std::size_t count, T value) {
    DSE_LOOP for (std::size_t k = 0; k != count; ++k) {
      push_back(value);
    }
  }
  DSE_FN FixedList(std::initializer_list<T> values) {
    DSE_LOOP for (const T& value : values) {
      push_back(value);
    }
  }
  DSE_FN FixedList(const FixedList& other) { *this = other; }
  DSE_FN FixedList& operator=(const FixedList& other) {
    DSE_LOOP for (std::size_t k = 0; k != other.size_; ++k) {
      items_[k] = other.items_[k];
    }
    size_ = other.size_;
    return *this;
  }

  DSE_FN std::size_t size() const { return size_; }
  DSE_FN bool empty() const { return size_ == 0; }
  DSE_FN T& operator[](std::size_t k) { return items_[k]; }
  DSE_FN const T& operator[](std::size_t k) const { return items_[k]; }
  DSE_FN T& back() { return items_[size_ - 1]; }
  DSE_FN const T& back() const { return items_[size_ - 1]; }
  DSE_FN T* begin() { return items_; }
  DSE_FN T* end() { return items_ + size_; }
  DSE_FN const T* begin() const { return items_; }
  DSE_FN const T* end() const { return items_ + size_; }

  DSE_FN void push_back(T value) {
    if (size_ == Most) {
      fail("a value needs more bits than a GPU has for integers without bound", -1, "run this actor on a CPU");
    }
    items_[size_++] = value;
  }
  DSE_FN void pop_back() { --size_; }
  DSE_FN void clear() { size_ = 0; }
  DSE_FN void resize(std::size_t count) { size_ = count; }  // to fewer only

  DSE_FN friend bool operator==(const FixedList& a, const FixedList& b) {
    bool same = a.size_ == b.size_;
    DSE_LOOP for (std::size_t k = 0; same && k != a.size_; ++k) {
      same = a.items_[k] == b.items_[k];
    }
    return same;
  }

 private:
  std::size_t size_ = 0;
  T items_[Most];
};

}  // namespace DSE_SPACE

#endif
