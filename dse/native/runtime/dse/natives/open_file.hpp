// A file that a program has open, with a buffer. When others see what was written is as with Python's buffered files:
// the buffer has the size of the file system's blocks, and goes out when it is full, at a seek beyond it, or at the
// end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace dse::natives {

using Bytes = std::span<const std::uint8_t>;

class OpenFile {
 public:
  enum class Mode { read, write, both };

  /// Takes over an open descriptor. `before_write` is called before the first write and may turn the file to another.
  OpenFile(int descriptor, Mode mode);
  ~OpenFile();
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  /// Returns at most `count` bytes, fewer only at the end of the file.
  std::vector<std::uint8_t> read(std::int64_t count);
  /// Returns the next byte, or -1 at the end of the file.
  int read_byte();
  void write(Bytes data);
  void seek(std::int64_t position);
  std::int64_t tell() const;
  /// Returns the size in bytes, with what was written so far.
  std::int64_t size();
  void flush();
  void close();
  bool closed() const { return descriptor_ < 0; }

  /// Lets the file be turned to a copy by the first write: `copy` is called before it and calls `turn_to`.
  void copy_before_write(std::function<void()> copy) { copy_ = std::move(copy); }
  /// Goes on with another file, which may be written, at the same position. Takes over its descriptor.
  void turn_to(int descriptor);

 private:
  void require_open(const char* operation) const;
  std::size_t left() const { return filled_ - position_; }
  std::size_t fetch(std::uint8_t* to, std::size_t count, std::int64_t from);
  void store(Bytes data, std::int64_t at);
  void write_out();
  void drop(std::int64_t position);

  int descriptor_;
  Mode mode_;
  bool seekable_;
  std::vector<std::uint8_t> buffer_;
  std::int64_t start_ = 0;     // place in the file of the first byte of the buffer
  std::size_t position_ = 0;   // in the buffer
  std::size_t filled_ = 0;     // bytes of the buffer that are those of the file, or will be
  std::size_t dirty_from_ = 0;  // bytes that were not written out: [dirty_from_, dirty_to_)
  std::size_t dirty_to_ = 0;
  std::function<void()> copy_;
};

}  // namespace dse::natives
