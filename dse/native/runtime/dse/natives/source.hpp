// The input file: std.stdio.Source and the units that declare the same functions; the variant with descriptors.
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "dse/natives/lists.hpp"

namespace dse {
class Context;
}

namespace dse::natives {

/// One input file that is read by position.
class Source {
 public:
  explicit Source(Context& context) : context_(context) {}

  void init();
  std::int64_t size();
  template <class T>
  void read(const View<T, 1>& buffer, std::int64_t count) {
    const std::lock_guard lock(mutex_);
    const Bytes data = next(count);
    fill(buffer, data.first(std::min(data.size(), static_cast<std::size_t>(buffer.sizes[0]))));
  }
  /// Returns the next byte; after the last comes the first again.
  std::int64_t read_byte();
  void rewind();
  void decrement_loops();
  std::int64_t loops();
  bool loops_reached();
  /// Ignores a success, which comes before the pipeline has drained; ends the run on a failure.
  void exit(std::int64_t code);
  void close() {}

 private:
  Bytes input();
  Bytes next(std::int64_t count);

  Context& context_;
  std::mutex mutex_;
  Bytes input_;
  bool has_input_ = false;
  bool has_loops_ = false;
  std::int64_t position_ = 0;
  std::int64_t loops_left_ = 0;
};

/// Input files by descriptor.
class Descriptors {
 public:
  explicit Descriptors(Context& context) : context_(context) {}

  /// Opens a file of the input folder and returns its number.
  std::int64_t open(const std::string& name);
  std::int64_t size(std::int64_t number);
  template <class T>
  void read(std::int64_t number, const View<T, 1>& buffer, std::int64_t count) {
    const std::vector<std::uint8_t> data = next(number, count);
    fill(buffer, Bytes(data).first(std::min(data.size(), static_cast<std::size_t>(buffer.sizes[0]))));
  }
  void rewind(std::int64_t number);
  void close(std::int64_t number);

 private:
  std::vector<std::uint8_t> next(std::int64_t number, std::int64_t count);

  Context& context_;
};

}  // namespace dse::natives
