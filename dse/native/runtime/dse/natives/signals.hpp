// Sample files of signal-processing applications: DigitalFiltering, Filters and LBP, ZigBee, Predistortion.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <vector>

#include "dse/natives/lists.hpp"
#include "dse/text.hpp"

namespace dse {
class Context;
}

namespace dse::natives {

/// Numbers of a text file. Each `next_` throws SourceExhausted after the last.
class TextSource {
 public:
  TextSource(std::string path, std::vector<std::uint8_t> data);

  /// Returns the next integer, modulo 2^64.
  std::int64_t next_int();
  /// Returns the next integer as the nearest double.
  double next_int_as_double();
  double next_double();

 private:
  std::string next_word();
  [[noreturn]] void refuse(const std::string& word) const;

  std::string path_;
  std::vector<std::uint8_t> data_;
  std::size_t position_ = 0;
  std::size_t end_;  // of the bytes that are text
};

/// A text file with one number a line; created with the first. `part` goes behind the stem of its name.
class TextSink {
 public:
  TextSink(Context& context, std::string part) : context_(context), part_(std::move(part)) {}

  /// Appends a line; without an output option there is nothing to write to. Threads may share a sink.
  void write(const std::string& text);

 private:
  Context& context_;
  std::string part_;
  std::mutex mutex_;  // its own: a sink and a source on two cores that met at one lock slept there
  std::shared_ptr<OpenFile> file_;
};

/// Returns a number with so many digits after the point.
std::string fixed_text(double value, int digits);
/// Returns an integer or a bool as Python writes it.
template <class T>
std::string number_text(const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? "True" : "False";
  } else {
    return text_of(value);
  }
}

/// native_source_* and native_sink_*: -i gives the input file, or the folder with input_K.in.
class SampleFiles {
 public:
  explicit SampleFiles(Context& context) : context_(context), sink_(context, "") {}

  void init(std::int64_t index = 0);
  void close() {}
  std::int64_t produce(std::int64_t index = 0);
  double produce_as_double(std::int64_t index = 0);
  double produce_double(std::int64_t index = 0);
  void sink_init() {}
  template <class T>
  void consume(const T& value) {
    sink_.write(number_text(value));
  }
  template <class T>
  void consume_double(const T& value) {
    sink_.write(fixed_text(static_cast<double>(value), 0));
  }

 private:
  TextSource& source(std::int64_t index);

  Context& context_;
  std::mutex mutex_;  // of the sources
  std::map<std::int64_t, TextSource> sources_;
  TextSink sink_;
};

/// Natives of the ZigBee transmitter: packets as text integers, their lengths first.
class Packets {
 public:
  explicit Packets(Context& context) : context_(context), sink_(context, "") {}

  void init();
  /// Returns the length of the next packet, or 1, which is no length: no further packet is sent.
  std::int64_t size();
  std::int64_t read_byte();
  template <class T>
  void consume(const T& value) {
    sink_.write(number_text(value));
  }
  void nothing() {}

 private:
  TextSource& source();

  Context& context_;
  std::mutex mutex_;  // of the source
  std::unique_ptr<TextSource> source_;
  TextSink sink_;
};

/// Natives of the predistortion filters: in_i and in_q, one number at a time or in blocks of 32-bit floats.
class Quadrature {
 public:
  explicit Quadrature(Context& context) : context_(context), sinks_{TextSink{context, "_i"}, TextSink{context, "_q"}} {}

  double read_i() { return next(0); }
  double read_q() { return next(1); }
  template <class T>
  void read_block_i(const View<T, 1>& buffer, std::int64_t offset, std::int64_t count) {
    read_block(0, buffer, offset, count);
  }
  template <class T>
  void read_block_q(const View<T, 1>& buffer, std::int64_t offset, std::int64_t count) {
    read_block(1, buffer, offset, count);
  }
  template <class T>
  void consume_i(const T& value) {
    put(0, static_cast<double>(value));
  }
  template <class T>
  void consume_q(const T& value) {
    put(1, static_cast<double>(value));
  }
  template <class T>
  void consume_block_i(const View<T, 1>& samples, std::int64_t count) {
    consume_block(0, samples, count);
  }
  template <class T>
  void consume_block_q(const View<T, 1>& samples, std::int64_t count) {
    consume_block(1, samples, count);
  }
  void nothing() {}

 private:
  double next(std::size_t part);
  double next_float(std::size_t part);
  void put(std::size_t part, double value);
  static std::size_t place(std::int64_t index, std::int64_t length);

  template <class T>
  void read_block(std::size_t part, const View<T, 1>& buffer, std::int64_t offset, std::int64_t count) {
    constexpr std::int64_t far = std::int64_t{1} << 40;  // beyond the ends of all lists; a sum of two is no overflow
    const std::int64_t first = std::clamp(offset, -far, far);
    const std::int64_t end = std::min(first + std::clamp(count, -far, far), buffer.sizes[0]);
    for (std::int64_t k = first; k < end; ++k) {
      const double value = next_float(part);
      buffer.data[place(k, buffer.sizes[0])] = static_cast<T>(value);
    }
  }
  template <class T>
  void consume_block(std::size_t part, const View<T, 1>& samples, std::int64_t count) {
    const std::int64_t end = slice_end(count, samples.sizes[0]);
    for (std::int64_t k = 0; k < end; ++k) put(part, static_cast<double>(samples.data[k]));
  }

  Context& context_;
  std::array<std::mutex, 2> mutexes_;  // of the sources
  std::array<std::unique_ptr<TextSource>, 2> sources_;
  std::array<TextSink, 2> sinks_;
};

}  // namespace dse::natives
