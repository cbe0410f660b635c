// Lists: flat in memory, the last index running fastest.
//
// A `List` owns its elements and has sizes that are known when the program is compiled. A `View` is a list, or a part
// of one, where it stands: what a parameter gets, since lists go by reference.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "dse/elements.hpp"
#include "dse/numbers.hpp"
#include "dse/where.hpp"

namespace DSE_SPACE {

/// Lists of more bytes are not kept inside of their owner. The system hands out their zeros page by page, so what a
/// program declares and never touches costs nothing: picture stores are mostly far larger than the pictures.
#ifdef DSE_ON_DEVICE
inline constexpr std::size_t most_bytes_inside = SIZE_MAX;  // a kernel has no such system
#else
inline constexpr std::size_t most_bytes_inside = 16384;
#endif

/// A list or part of one, in place. `sizes`: the outermost first.
template <class T, int D>
struct View {
  T* data;
  std::array<std::int64_t, D> sizes;

  DSE_FN std::int64_t size() const { return sizes[0]; }
  DSE_FN const View& view() const { return *this; }

  DSE_FN T& operator[](std::int64_t i) const
    requires(D == 1)
  {
    return data[i];
  }

  /// The element at so many indices as there are dimensions, or the part at fewer.
  template <class... Indices>
  DSE_FN decltype(auto) operator()(Indices... indices) const {
    constexpr int used = sizeof...(Indices);
    static_assert(used <= D);
    const std::int64_t place[] = {static_cast<std::int64_t>(indices)...};
    std::int64_t offset = 0;
    DSE_LOOP for (int k = 0; k != D; ++k) {
      offset = offset * sizes[static_cast<std::size_t>(k)] + (k < used ? place[k] : 0);
    }
    if constexpr (used == D) {
      return data[offset];
    } else {
      View<T, D - used> part{data + offset, {}};
      DSE_LOOP for (int k = used; k != D; ++k) {
        part.sizes[static_cast<std::size_t>(k - used)] = sizes[static_cast<std::size_t>(k)];
      }
      return part;
    }
  }

  template <class U>
  DSE_FN operator View<U, D>() const
    requires(!std::is_const_v<T> && std::is_same_v<U, const T>)
  {
    return {data, sizes};
  }
};

/// A list with elements of its own, zeros at first.
template <class T, std::int64_t... Sizes>
class List {
 public:
  static constexpr int rank = sizeof...(Sizes);
  static constexpr std::int64_t elements = (Sizes * ... * 1);
  static constexpr bool inside = static_cast<std::size_t>(elements) * sizeof(T) <= most_bytes_inside;
  using Element = T;

  List() = default;
  List(List&&) noexcept = default;
  List& operator=(List&&) noexcept = default;
  DSE_FN List(const List& other) : List() { *this = other; }
  DSE_FN List& operator=(const List& other) {
    if (this != &other) {
      DSE_LOOP for (std::int64_t k = 0; k != elements; ++k) {
        data()[k] = other.data()[k];
      }
    }
    return *this;
  }

  DSE_FN T* data() { return store_.data(); }
  DSE_FN const T* data() const { return store_.data(); }
  DSE_FN static constexpr std::int64_t size() { return std::array<std::int64_t, sizeof...(Sizes)>{Sizes...}[0]; }

  DSE_FN View<T, rank> view() { return {data(), {Sizes...}}; }
  DSE_FN View<const T, rank> view() const { return {data(), {Sizes...}}; }
  DSE_FN operator View<T, rank>() & { return view(); }
  DSE_FN operator View<T, rank>() && { return view(); }
  DSE_FN operator View<const T, rank>() const { return view(); }

  DSE_FN T& operator[](std::int64_t i)
    requires(rank == 1)
  {
    return data()[i];
  }
  DSE_FN const T& operator[](std::int64_t i) const
    requires(rank == 1)
  {
    return data()[i];
  }
  template <class... Indices>
  DSE_FN decltype(auto) operator()(Indices... indices) {
    return view()(indices...);
  }
  template <class... Indices>
  DSE_FN decltype(auto) operator()(Indices... indices) const {
    return view()(indices...);
  }

 private:
  struct Inside {
    std::array<T, static_cast<std::size_t>(elements > 0 ? elements : 1)> items{};
    DSE_FN T* data() { return items.data(); }
    DSE_FN const T* data() const { return items.data(); }
  };
  struct OnPages {
    Elements<T, FreeElements> items = zero_pages<T>(static_cast<std::size_t>(elements));
    T* data() { return items.get(); }
    const T* data() const { return items.get(); }
  };
  struct OnHeap {
    Elements<T> items = zero_elements<T>(static_cast<std::size_t>(elements));
    T* data() { return items.get(); }
    const T* data() const { return items.get(); }
  };
  using Store = std::conditional_t<inside, Inside, std::conditional_t<std::is_trivially_copyable_v<T>, OnPages, OnHeap>>;

  Store store_;
};

/// A constant list; its elements stand in the program itself.
template <class T, std::int64_t... Sizes>
struct Table {
  static constexpr int rank = sizeof...(Sizes);
  T items[static_cast<std::size_t>((Sizes * ... * 1) > 0 ? (Sizes * ... * 1) : 1)];

  DSE_FN static constexpr std::int64_t size() { return std::array<std::int64_t, sizeof...(Sizes)>{Sizes...}[0]; }
  DSE_FN constexpr View<const T, rank> view() const { return {items, {Sizes...}}; }
  DSE_FN operator View<const T, rank>() const { return view(); }
  DSE_FN const T& operator[](std::int64_t i) const
    requires(rank == 1)
  {
    return items[i];
  }
  template <class... Indices>
  DSE_FN decltype(auto) operator()(Indices... indices) const {
    return view()(indices...);
  }
};

/// A list as the target of a copy whose elements wrap to the type `N`, although they are stored in a wider one.
template <class N, class T, int D>
struct Narrow {
  View<T, D> target;

  DSE_FN const Narrow& view() const { return *this; }
  DSE_FN std::int64_t size() const { return target.size(); }
  DSE_FN auto operator()(std::int64_t k) const { return Narrow<N, T, D - 1>{target(k)}; }
};

template <class N, class T, int D>
DSE_FN Narrow<N, T, D> narrowed(const View<T, D>& target) {
  return {target};
}

template <class N, class L>
DSE_FN auto narrow(L&& list) {
  return narrowed<N>(list.view());
}

/// Copy over the first elements of `target`: a source that is too long is cut. Elements are converted by `stored`.
template <class T, class S, int D>
DSE_FN void copy_elements(const View<T, D>& target, const View<S, D>& source) {
  const std::int64_t n = std::min(target.size(), source.size());
  DSE_LOOP for (std::int64_t k = 0; k != n; ++k) {
    if constexpr (D == 1) {
      target[k] = stored<T>(source[k]);
    } else {
      copy_elements(target(k), source(k));
    }
  }
}

template <class N, class T, class S, int D>
DSE_FN void copy_elements(const Narrow<N, T, D>& target, const View<S, D>& source) {
  const std::int64_t n = std::min(target.size(), source.size());
  DSE_LOOP for (std::int64_t k = 0; k != n; ++k) {
    if constexpr (D == 1) {
      target.target[k] = stored<T>(stored<N>(source[k]));
    } else {
      copy_elements(target(k), source(k));
    }
  }
}

/// The same for lists of any form.
template <class To, class From>
DSE_FN void copy_into(To&& target, From&& source) {
  copy_elements(target.view(), source.view());
}

/// A new list of type `L` with the elements of another: cut where that is longer, zeros where it is shorter.
template <class L, class From>
DSE_FN L copied(From&& source) {
  L made;
  copy_into(made, source);
  return made;
}

/// Wrap integers of any size to containers that no type of C++ is; its own types wrap what is converted to them.
template <class T, int D>
DSE_FN void wrap_elements(const View<T, D>& list, int bits, bool is_signed) {
  DSE_LOOP for (std::int64_t k = 0; k != list.size(); ++k) {
    if constexpr (D == 1) {
      list[k] = list[k].wrapped(bits, is_signed);
    } else {
      wrap_elements(list(k), bits, is_signed);
    }
  }
}

template <class To, class From>
DSE_FN void copy_wrapped(To&& target, From&& source, int bits, bool is_signed) {
  copy_into(target, source);
  wrap_elements(target.view(), bits, is_signed);
}

template <class L>
DSE_FN L wrapped_list(L list, int bits, bool is_signed) {
  wrap_elements(list.view(), bits, is_signed);
  return list;
}

// Lists that are made in an expression --------------------------------------------------------------------------------

/// Copy a row over one of a list, if there is that one.
template <class L, class Row>
DSE_FN void copy_row(L&& list, std::int64_t k, const Row& row) {
  if (k < list.size()) {
    copy_into(list.view()(k), row);
  }
}

/// Store an element, or a row, of a new list, if there is room for it.
template <class L, class E>
DSE_FN void put_element(L& list, std::int64_t k, const E& element) {
  if (k >= L::size()) {
    return;
  }
  if constexpr (L::rank == 1) {
    list[k] = stored<typename L::Element>(element);
  } else {
    copy_into(list(k), element);
  }
}

/// A list of elements or rows: `Listed<L>{a, b}.list`. Braces, unlike a call, keep their order.
template <class L>
struct Listed {
  L list;

  template <class... Elements>
  DSE_FN explicit Listed(const Elements&... elements) {
    [[maybe_unused]] std::int64_t k = 0;
    (put_element(list, k++, elements), ...);
  }
};

/// A list whose elements `make` hands to its argument, one after the other.
template <class L, class Make>
DSE_FN L generated(Make&& make) {
  L list;
  std::int64_t k = 0;
  make([&](const auto& element) { put_element(list, k++, element); });
  return list;
}

/// Hand the elements or rows of a list on, one after the other.
template <class L, class Next>
DSE_FN void each(const L& list, Next&& next) {
  const auto whole = list.view();
  DSE_LOOP for (std::int64_t k = 0; k != whole.size(); ++k) {
    next(whole(k));
  }
}

#ifndef DSE_ON_DEVICE
/// A list whose size shows only when it is made. Actors that need one do not run on a GPU.
template <class T>
class Grown {
 public:
  void add(const T& element) {
    if (size_ == room_) {
      room_ = 2 * room_ + 8;
      Elements<T> larger = zero_elements<T>(static_cast<std::size_t>(room_));
      DSE_LOOP for (std::int64_t k = 0; k != size_; ++k) {
        larger[static_cast<std::size_t>(k)] = std::move(items_[static_cast<std::size_t>(k)]);
      }
      items_ = std::move(larger);
    }
    items_[static_cast<std::size_t>(size_++)] = element;
  }

  std::int64_t size() const { return size_; }
  View<T, 1> view() const { return {items_.get(), {size_}}; }

 private:
  Elements<T> items_;
  std::int64_t size_ = 0;
  std::int64_t room_ = 0;
};

/// The same as `generated`, of any size.
template <class T, class Make>
Grown<T> grown(Make&& make) {
  Grown<T> list;
  make([&](const auto& element) { list.add(stored<T>(element)); });
  return list;
}
#endif

// Accesses that may lie out of bounds ---------------------------------------------------------------------------------

// g++ 12 warns of an index that the test before has excluded.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Warray-bounds"

/// Whether an index is one of a list of `size` elements.
template <class I>
DSE_FN bool inside(const I& index, std::int64_t size) {
  if constexpr (std::same_as<I, Big> || sizeof(I) > sizeof(std::int64_t)) {
    return index >= I(0) && index < I(size);
  } else {
    return static_cast<std::uint64_t>(index) < static_cast<std::uint64_t>(size);
  }
}

/// An index that is known to be in bounds.
struct Sure {
  std::int64_t index;
};

template <class I>
DSE_FN Sure sure(const I& index) {
  return {static_cast<std::int64_t>(index)};
}

DSE_FN inline bool inside(const Sure&, std::int64_t) { return true; }

template <class I>
DSE_FN std::int64_t plain(const I& index) {
  if constexpr (std::same_as<I, Big>) {
    return index.template wrapped<std::int64_t>();
  } else {
    return static_cast<std::int64_t>(index);
  }
}

DSE_FN inline std::int64_t plain(const Sure& index) { return index.index; }

template <class L, class... Indices>
DSE_FN bool all_inside(const L& list, const Indices&... indices) {
  const auto whole = list.view();
  std::size_t k = 0;
  return (inside(indices, whole.sizes[k++]) && ...);
}

/// An element; zero, counted at `site`, where an index lies out of bounds.
template <class Owner, class L, class... Indices>
DSE_FN auto checked(Owner& owner, int site, const L& list, const Indices&... indices) {
  using Element = std::remove_cvref_t<decltype(list.view()(plain(indices)...))>;
  if (all_inside(list, indices...)) [[likely]] {
    return Element(list.view()(plain(indices)...));
  }
  owner.stray(site);
  return Element();
}

/// A part of a list; `zeros`, counted at `site`, where an index lies out of bounds.
template <class Owner, class L, class Zeros, class... Indices>
DSE_FN auto part_or(Owner& owner, int site, L&& list, Zeros&& zeros, const Indices&... indices) {
  using Part = decltype(list.view()(plain(indices)...));
  if (all_inside(list, indices...)) [[likely]] {
    return list.view()(plain(indices)...);
  }
  owner.stray(site);
  return Part(zeros.view());
}

#pragma GCC diagnostic pop

}  // namespace DSE_SPACE
