// Output files: Writer_* of a single file, writer_* by descriptor. Closing the last one ends the program.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "dse/natives/lists.hpp"

namespace dse {
class Context;
}

namespace dse::natives {

/// One output file, byte by byte.
class Writer {
 public:
  explicit Writer(Context& context) : context_(context) {}

  void init();
  void write(std::int64_t byte);
  /// Writes everything out and ends the program.
  void close();

 private:
  Context& context_;
  std::shared_ptr<OpenFile> file_;
};

/// Output files by descriptor, and a flag by which programs tell themselves to stop.
class Writers {
 public:
  explicit Writers(Context& context) : context_(context) {}

  std::int64_t open(const std::string& name);
  template <class T>
  void write(std::int64_t number, const View<T, 1>& list, std::int64_t count) {
    std::vector<std::uint8_t> store;
    put(number, bytes_of(list, count, store), count);
  }
  void close_and_quit(std::int64_t number);
  bool stop() const { return stop_; }
  void set_stop(bool value) { stop_ = value; }

 private:
  void put(std::int64_t number, Bytes data, std::int64_t count);

  Context& context_;
  std::set<std::int64_t> opened_;
  std::atomic<bool> stop_ = false;
};

}  // namespace dse::natives
