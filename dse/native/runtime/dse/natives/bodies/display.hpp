// Bodies of dse/natives/display.hpp, dse/natives/simulation.hpp and dse/natives/missing.hpp.
#pragma once

#include <string>

#include "dse/context.hpp"

namespace dse::natives {

void require_picture(std::int64_t width, std::int64_t height, std::int64_t samples) {
  std::int64_t size = 0;
  const bool fits = !__builtin_mul_overflow(width, height, &size);
  if (!fits || size <= 0 || size > samples) {
    throw Fault("the program shows a picture of " + std::to_string(width) + " x " + std::to_string(height) + " from " +
                std::to_string(samples) + " samples");
  }
  if (width < 0) throw Fault("ValueError: can only specify one unknown dimension");
}

void refuse_sample() { throw Fault("ValueError: bytes must be in range(0, 256)"); }

void refuse_large_sample() { throw Fault("a value becomes too large"); }

std::int64_t Display::frames() const { return context_.options.frames.value_or(-1); }

void Display::end_if_full() const { context_.screen.end_if_full(); }

void Display::show_planes(const std::vector<Plane>& planes) { context_.screen.show(planes); }

void Display::compare_planes(const std::vector<Plane>& planes) { context_.screen.compare(planes); }

void LinePicture::start(std::int64_t width, std::int64_t height, std::int64_t components) {
  const std::lock_guard lock(mutex_);
  if (width <= 0 || height <= 0 || (components != 1 && components != 3)) {
    throw Fault("the program shows a picture of " + std::to_string(width) + " x " + std::to_string(height) + " with " +
                std::to_string(components) + " components");
  }
  width_ = width;
  height_ = height;
  components_.assign(static_cast<std::size_t>(components), {});
}

void LinePicture::end() {
  const std::lock_guard lock(mutex_);
  std::vector<Plane> planes;
  for (const Component& component : components_) {
    if (component.lines != height_) {
      throw Fault("the program ends a picture of " + std::to_string(height_) + " lines after " +
                  std::to_string(components_[0].lines));
    }
  }
  for (const Component& component : components_) {
    const auto size = static_cast<std::int64_t>(component.samples.size());
    if (size % height_ != 0 || size / height_ != width_) {
      throw Fault("ValueError: cannot reshape array of size " + std::to_string(size) +
                  " into shape (" + std::to_string(height_) + "," + std::to_string(width_) + ")");
    }
    planes.push_back({width_, height_, component.samples});
  }
  context_.screen.show(planes);
  context_.screen.end_if_full();
}

void Simulation::fail(const std::string& message, const std::string& advice) const {
  throw InputRefused(message, advice);
}

void refuse_failure(const char* what, const std::exception& error) { throw Fault(std::string(what) + error.what()); }

void refuse_call(const char* message, const char* expected) { throw Fault(message, -1, expected); }

}  // namespace dse::natives
