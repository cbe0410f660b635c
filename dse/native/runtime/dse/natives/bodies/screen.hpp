// Bodies of dse/natives/screen.hpp.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dse/errors.hpp"
#include "dse/files.hpp"
#include "dse/natives/bodies/open_file.hpp"
#include "dse/natives/bodies/paths.hpp"
#include "dse/natives/bodies/png.hpp"
#include "dse/natives/screen.hpp"
#include "dse/run_types.hpp"

namespace dse::natives {

namespace detail {

/// Returns a plane brought to a size by repetition.
inline Plane enlarged(const Plane& plane, std::int64_t width, std::int64_t height) {
  Plane result{width, height, {}};
  result.samples.reserve(static_cast<std::size_t>(width * height));
  for (std::int64_t y = 0; y < height; ++y) {
    const std::int64_t row = std::min(y * plane.height / height, plane.height - 1) * plane.width;
    for (std::int64_t x = 0; x < width; ++x) {
      const std::int64_t column = std::min(x * plane.width / width, plane.width - 1);
      result.samples.push_back(plane.samples[static_cast<std::size_t>(row + column)]);
    }
  }
  return result;
}

/// Returns a file of the PNM family.
inline std::vector<std::uint8_t> pnm_file(const std::string& kind, const Plane& size, Bytes samples) {
  const std::string head = kind + "\n" + std::to_string(size.width) + " " + std::to_string(size.height) + "\n255\n";
  std::vector<std::uint8_t> file(head.begin(), head.end());
  file.insert(file.end(), samples.begin(), samples.end());
  return file;
}

/// Returns a picture in the format of a file name suffix; chroma is brought to full size.
inline std::vector<std::uint8_t> encode(const std::string& suffix, const std::vector<Plane>& planes) {
  if (planes.empty()) throw Fault("IndexError: tuple index out of range");
  std::vector<Plane> whole;
  for (const Plane& plane : planes) whole.push_back(enlarged(plane, planes[0].width, planes[0].height));
  if (suffix == ".png") return png_file(whole);
  if (suffix == ".pgm") return pnm_file("P5", whole[0], whole[0].samples);
  return pnm_file("P6", whole[0], rgb_samples(whole));
}

inline std::string lower_case(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

/// Returns the largest difference of two blocks. One of another length comes from a program that compares more bytes
/// than it has; what then happens is as with arrays of numpy.
inline std::int64_t largest_difference(Bytes data, Bytes expected) {
  if (data.size() != expected.size() && data.size() != 1 && expected.size() != 1) {
    throw Fault("ValueError: operands could not be broadcast together with shapes (" + std::to_string(data.size()) +
                ",) (" + std::to_string(expected.size()) + ",) ");
  }
  const std::size_t step = data.size() == 1 ? 0 : 1;
  std::int64_t largest = 0;
  for (std::size_t k = 0; k < (data.empty() ? 0 : expected.size()); ++k) {
    largest = std::max<std::int64_t>(largest, std::abs(data[step * k] - expected[k]));
  }
  return largest;
}

inline std::vector<std::uint8_t> joined(const std::vector<Plane>& planes) {
  std::vector<std::uint8_t> data;
  for (const Plane& plane : planes) data.insert(data.end(), plane.samples.begin(), plane.samples.end());
  return data;
}

}  // namespace detail

Screen::Screen(const RunOptions& options) : options_(options) {
  if (options_.output) suffix_ = detail::lower_case(paths::suffix_of(*options_.output));
}

Screen::~Screen() = default;

void Screen::show(const std::vector<Plane>& planes) {
  const std::lock_guard lock(mutex_);
  if (is_full()) return;
  ++frames_;
  if (options_.output) write(planes);
  if (!compares_itself) compare_locked(planes);
}

void Screen::compare(const std::vector<Plane>& planes) {
  const std::lock_guard lock(mutex_);
  compare_locked(planes);
}

void Screen::compare_locked(const std::vector<Plane>& planes) {
  if (!options_.reference) return;
  if (!reference_) {
    reference_ = read_file(*options_.reference, "reference");
    if (reference_->empty()) {
      reference_.reset();
      throw Fault("the reference '" + *options_.reference + "' is empty");
    }
  }
  const std::vector<std::uint8_t> data = detail::joined(planes);
  if (position_ >= reference_->size()) position_ = 0;
  const Bytes rest = Bytes(*reference_).subspan(position_);
  position_ += data.size();
  count_locked(data, rest.first(std::min(rest.size(), data.size())));
}

void Screen::count(Bytes data, Bytes expected) {
  const std::lock_guard lock(mutex_);
  count_locked(data, expected);
}

void Screen::count_locked(Bytes data, Bytes expected) {
  constexpr std::int64_t whole_range = 255;
  ++counts_.compared;
  if (expected.size() < data.size()) {
    ++counts_.missing;
    counts_.max_difference = std::max(counts_.max_difference, whole_range);
    return;
  }
  const std::int64_t largest = detail::largest_difference(data, expected);
  counts_.max_difference = std::max(counts_.max_difference, largest);
  counts_.equal += largest <= options_.tolerance ? 1 : 0;
}

bool Screen::full() const {
  const std::lock_guard lock(mutex_);
  return is_full();
}

void Screen::end_if_full() const {
  if (full()) throw ProgramExit{0, true};
}

std::int64_t Screen::frames() const {
  const std::lock_guard lock(mutex_);
  return frames_;
}

std::optional<Comparison> Screen::comparison() const {
  const std::lock_guard lock(mutex_);
  return options_.reference && counts_.compared != 0 ? std::optional(counts_) : std::nullopt;
}

std::vector<std::string> Screen::files() const {
  const std::lock_guard lock(mutex_);
  return files_;
}

void Screen::close() {
  const std::lock_guard lock(mutex_);
  if (!stream_) return;
  const std::unique_ptr<WholeFile> stream = std::move(stream_);
  // A pipe has taken what it has taken.
  if (stream->is_ordinary() && ftruncate(stream->number(), whole_) != 0) stream->abandon(errno);
  stream->finish();
}

void Screen::write(const std::vector<Plane>& planes) {
  static constexpr const char* suffixes[] = {".yuv", ".png", ".pgm", ".ppm", ".raw"};
  if (std::find(std::begin(suffixes), std::end(suffixes), suffix_) == std::end(suffixes)) {
    throw ConfigError(Diagnostic{"no picture format is known for '" + *options_.output + "'", {},
                                 "end its name in .yuv .png .pgm .ppm .raw"},
                      exit_usage);
  }
  try {
    if (suffix_ == ".yuv" || suffix_ == ".raw") {
      append(planes);
    } else {
      write_picture(planes);
    }
  } catch (const WriteError& error) {
    throw Fault("cannot write '" + *options_.output + "': " + error_text(error.reason()));
  }
}

void Screen::append(const std::vector<Plane>& planes) {
  if (!stream_) {
    stream_ = std::make_unique<WholeFile>(*options_.output);
    files_.push_back(*options_.output);
  }
  for (const Plane& plane : planes) {
    const int error = write_all(stream_->number(), plane.samples);
    if (error != 0) throw WriteError(*options_.output, error);  // the whole pictures before stay
  }
  for (const Plane& plane : planes) whole_ += static_cast<std::int64_t>(plane.samples.size());
}

/// Writes one picture to a file of its own: the name given for the first, numbered from the second on.
void Screen::write_picture(const std::vector<Plane>& planes) {
  std::string path = paths::tidy(*options_.output);
  if (frames_ > 1) path = paths::with_part(path, "_" + std::to_string(frames_));
  const std::vector<std::uint8_t> data = detail::encode(suffix_, planes);
  WholeFile file(path);
  file.write({reinterpret_cast<const char*>(data.data()), data.size()});
  file.finish();
  files_.push_back(path);
}

}  // namespace dse::natives
