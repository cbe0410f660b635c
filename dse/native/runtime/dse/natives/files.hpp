// Files and consoles that a program names itself: AccessFile, file channels, Console; comparison of bytes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "dse/natives/lists.hpp"

namespace dse {
class Context;
}

namespace dse::natives {

/// Functions of system.io.AccessFile. Relative names are looked for beside the network.
class AccessFile {
 public:
  explicit AccessFile(Context& context) : context_(context) {}

  std::int64_t open(const std::string& name);
  std::int64_t close(std::int64_t number);
  std::int64_t read_byte(std::int64_t number);
  template <class T>
  void read(std::int64_t number, const View<T, 1>& buffer, std::int64_t count) {
    fill(buffer, next(number, count, buffer.sizes[0]));
  }
  void write_byte(std::int64_t number, std::int64_t byte);
  template <class T>
  void write(std::int64_t number, const View<T, 1>& list, std::int64_t count) {
    std::vector<std::uint8_t> store;
    put(number, bytes_of(list, count, store), count);
  }
  std::int64_t size(std::int64_t number);
  void seek(std::int64_t number, std::int64_t position);
  std::int64_t position(std::int64_t number);

 private:
  std::vector<std::uint8_t> next(std::int64_t number, std::int64_t count, std::int64_t room);
  void put(std::int64_t number, Bytes data, std::int64_t count);

  Context& context_;
};

/// Functions of the file channels (intf.channel): -1 from `read_byte` at the end of the file.
class FileChannel {
 public:
  explicit FileChannel(Context& context) : context_(context) {}

  std::int64_t open(const std::string& name, const std::string& mode);
  bool exists(std::int64_t number);
  void close(std::int64_t number);
  bool input_ended(std::int64_t number);
  bool output_ended(std::int64_t number) { return !exists(number); }
  std::int64_t read_byte(std::int64_t number);
  void write_byte(std::int64_t number, std::int64_t byte);
  void set_option(std::int64_t, const std::string&, const std::string&) {}
  std::string option(std::int64_t, const std::string&) { return ""; }

 private:
  Context& context_;
  std::set<std::int64_t> ended_;
};

/// Functions of system.io.Console: all consoles are one; it reads the lines given to the run.
class Console {
 public:
  explicit Console(Context& context) : context_(context) {}

  std::int64_t open(const std::string& name);
  std::int64_t close(std::int64_t) { return 0; }
  std::string read(std::int64_t number);
  std::int64_t read_integer(std::int64_t number);
  void write(std::int64_t number, const std::string& text);

 private:
  Context& context_;
  std::mutex mutex_;
  std::int64_t opened_ = 0;
  std::size_t next_line_ = 0;
};

/// Functions of std.util.Compare: bytes against the reference; the run goes on after a difference.
class Compare {
 public:
  explicit Compare(Context& context) : context_(context) {}

  void init();
  void close() {}
  void byte(std::int64_t value);
  template <class T>
  void block(const View<T, 1>& list, std::int64_t count) {
    std::vector<std::uint8_t> store;
    compare(bytes_of(list, count, store), count);
  }
  /// Compares with the next equal block of the reference, as a decoder may leave some out.
  template <class T>
  void next_block(const View<T, 1>& list, std::int64_t count, std::int64_t) {
    std::vector<std::uint8_t> store;
    compare_next(bytes_of(list, count, store), count);
  }

 private:
  void load();
  Bytes expected(std::int64_t start, std::int64_t count) const;
  static std::int64_t further(std::int64_t position, std::int64_t count);
  void compare(Bytes data, std::int64_t count);
  void compare_next(Bytes data, std::int64_t count);

  Context& context_;
  std::mutex mutex_;
  std::optional<std::vector<std::uint8_t>> reference_;
  std::int64_t position_ = 0;
};

}  // namespace dse::natives
