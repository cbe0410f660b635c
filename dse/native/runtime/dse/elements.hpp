// Elements in memory of their own, one behind the other. Every actor includes this: <memory>, which has the pointers for
// it, reads streams and locales too, and would be a quarter of what is compiled for an actor.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>
#include <utility>

namespace dse {

/// How elements made by `new` go.
struct DeleteElements {
  template <class T>
  void operator()(T* items) const {
    delete[] items;
  }
};

/// How memory of the system goes.
struct FreeElements {
  template <class T>
  void operator()(T* items) const {
    std::free(items);
  }
};

/// Owns an array, or nothing.
template <class T, class Release = DeleteElements>
class Elements {
 public:
  explicit Elements(T* items = nullptr) noexcept : items_(items) {}
  Elements(Elements&& other) noexcept : items_(std::exchange(other.items_, nullptr)) {}
  Elements& operator=(Elements&& other) noexcept {
    if (this != &other) {
      Release()(items_);
      items_ = std::exchange(other.items_, nullptr);
    }
    return *this;
  }
  ~Elements() { Release()(items_); }

  T* get() const { return items_; }
  T& operator[](std::size_t k) const { return items_[k]; }

 private:
  T* items_;
};

/// Elements that have their default value: numbers are zero. Throws std::bad_alloc.
template <class T>
Elements<T> zero_elements(std::size_t count) {
  return Elements<T>(new T[count]());
}

/// Elements that are written before they are read: numbers are anything. Throws std::bad_alloc.
template <class T>
Elements<T> raw_elements(std::size_t count) {
  return Elements<T>(new T[count]);
}

/// Zeros from the system, which hands them out page by page. Throws std::bad_alloc.
template <class T>
Elements<T, FreeElements> zero_pages(std::size_t count) {
  auto* items = static_cast<T*>(std::calloc(count, sizeof(T)));
  if (items == nullptr) {
    throw std::bad_alloc();
  }
  return Elements<T, FreeElements>(items);
}

}  // namespace dse
