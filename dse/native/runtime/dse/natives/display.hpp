// Displays: std.video.Display, grey windows, comparison of pictures, our own dse.Picture.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

#include "dse/natives/lists.hpp"
#include "dse/natives/screen.hpp"

namespace dse {
class Context;
}

namespace dse::natives {

/// Throws Fault unless a picture of this size can be taken from so many samples.
void require_picture(std::int64_t width, std::int64_t height, std::int64_t samples);
[[noreturn]] void refuse_sample();
[[noreturn]] void refuse_large_sample();

/// Returns the first width * height samples as a plane, each modulo 256.
template <class T, int D>
Plane plane_of(const View<T, D>& samples, std::int64_t width, std::int64_t height) {
  require_picture(width, height, elements_of(samples));
  const auto n = static_cast<std::size_t>(width * height);
  if constexpr (std::is_same_v<std::remove_const_t<T>, std::uint64_t>) {
    constexpr auto is_large = [](std::uint64_t value) { return value >> 63 != 0; };
    if (std::any_of(samples.data, samples.data + n, is_large)) refuse_large_sample();
  }
  Plane plane{width, height, std::vector<std::uint8_t>(n)};
  std::transform(samples.data, samples.data + n, plane.samples.begin(), [](const T& value) { return low_byte(value); });
  return plane;
}

/// Returns whether an element, of whatever type, is one of 0 to 255.
template <class T>
bool is_byte(const T& value) {
  if constexpr (!std::is_unsigned_v<T>) {
    if (value < T(0)) return false;
  }
  if constexpr (sizeof(T) > sizeof(std::uint64_t)) {
    return !(T(255) < value);
  } else {
    return static_cast<std::uint64_t>(value) <= 255;
  }
}

/// Returns a half, rounded down.
constexpr std::int64_t half(std::int64_t value) { return value >> 1; }

class Display {
 public:
  explicit Display(Context& context) : context_(context) {}

  /// Shows a picture whose chroma has half the width and height.
  template <class Y, class U, class V>
  void show(const Y& y, const U& u, const V& v, std::int64_t width, std::int64_t height) {
    end_if_full();
    show_planes(subsampled(y, u, v, width, height));
  }
  /// Shows a picture whose chroma has the size of luma.
  template <class Y, class U, class V>
  void show_whole(const Y& y, const U& u, const V& v, std::int64_t width, std::int64_t height) {
    end_if_full();
    std::vector<Plane> planes;
    planes.push_back(plane_of(y, width, height));
    planes.push_back(plane_of(u, width, height));
    planes.push_back(plane_of(v, width, height));
    show_planes(planes);
  }
  template <class Y, class U, class V>
  void compare(const Y& y, const U& u, const V& v, std::int64_t width, std::int64_t height) {
    compare_planes(subsampled(y, u, v, width, height));
  }
  template <class Y, class Mouse>
  void show_gray(std::int64_t width, std::int64_t height, const Y& gray, const Mouse&) {
    std::vector<Plane> planes;
    planes.push_back(plane_of(gray, width, height));
    show_planes(planes);
  }
  /// Returns that the display is enabled and ready.
  std::int64_t flags() const { return 3; }
  /// Returns how many pictures are wanted; -1 is unlimited, as 0 would stop the program at once.
  std::int64_t frames() const;
  /// Stands for what only a window has: opening it, its events, the frame rate.
  template <class... Arguments>
  void nothing(const Arguments&...) const {}

 private:
  template <class Y, class U, class V>
  static std::vector<Plane> subsampled(const Y& y, const U& u, const V& v, std::int64_t width, std::int64_t height) {
    std::vector<Plane> planes;
    planes.push_back(plane_of(y, width, height));
    planes.push_back(plane_of(u, half(width), half(height)));
    planes.push_back(plane_of(v, half(width), half(height)));
    return planes;
  }
  void end_if_full() const;
  void show_planes(const std::vector<Plane>& planes);
  void compare_planes(const std::vector<Plane>& planes);

  Context& context_;
};

/// A picture that comes line by line (dse.Picture).
class LinePicture {
 public:
  explicit LinePicture(Context& context) : context_(context) {}

  /// Begins a picture of 1 (luma) or 3 components.
  void start(std::int64_t width, std::int64_t height, std::int64_t components);
  /// Adds a line: the first samples of each list.
  template <class... Lists>
  void line(const Lists&... samples) {
    const std::lock_guard lock(mutex_);
    std::size_t component = 0;
    (..., add(component++, samples));
  }
  /// Shows the picture.
  void end();

 private:
  template <class T>
  void add(std::size_t component, const View<T, 1>& samples) {
    if (component >= components_.size()) return;
    const auto n = static_cast<std::size_t>(std::min(width_, samples.sizes[0]));
    std::vector<std::uint8_t>& to = components_[component].samples;
    if constexpr (std::is_same_v<std::remove_const_t<T>, std::uint8_t>) {
      to.insert(to.end(), samples.data, samples.data + n);
    } else {
      if (!std::all_of(samples.data, samples.data + n, [](const T& value) { return is_byte(value); })) refuse_sample();
      std::transform(samples.data, samples.data + n, std::back_inserter(to), [](const T& v) { return low_byte(v); });
    }
    ++components_[component].lines;
  }

  struct Component {
    std::int64_t lines = 0;
    std::vector<std::uint8_t> samples;
  };

  Context& context_;
  std::mutex mutex_;
  std::int64_t width_ = 0;
  std::int64_t height_ = 0;
  std::vector<Component> components_;
};

}  // namespace dse::natives
