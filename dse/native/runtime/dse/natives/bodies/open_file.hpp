// Bodies of dse/natives/open_file.hpp; opening, reading and writing with the system.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "dse/errors.hpp"
#include "dse/natives/bodies/paths.hpp"
#include "dse/natives/open_file.hpp"
#include "dse/run_types.hpp"

namespace dse::natives {

inline constexpr std::size_t buffer_bytes = 8192;  // where the file system does not say what it likes

/// Throws what is said when the system refuses what is no fault of the program, as on a full disk.
[[noreturn]] inline void refuse_by_system(const std::string& what, int error) {
  throw ConfigError(Diagnostic{what + ": " + error_text(error), {},
                               "make room, or choose a place that can be read and written, and start again"},
                    exit_failed);
}

/// Calls a function of the system again as long as a signal interrupts it.
template <class Call>
auto uninterrupted(Call call) {
  for (;;) {
    const auto result = call();
    if (result >= 0 || errno != EINTR) return result;
  }
}

/// Writes all of the data, at a place of the file or, where that is -1, where the file stands. Returns the error of the
/// system, or 0.
inline int write_all(int descriptor, Bytes data, std::int64_t at = -1) {
  while (!data.empty()) {
    const ssize_t n = uninterrupted([&] {
      return at < 0 ? ::write(descriptor, data.data(), data.size())
                    : pwrite(descriptor, data.data(), data.size(), at);
    });
    if (n < 0) return errno;
    data = data.subspan(static_cast<std::size_t>(n));
    if (at >= 0) at += n;
  }
  return 0;
}

/// A descriptor that is closed when it goes out of scope, unless it was released.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }
  int release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

/// Returns all bytes of a file that the user named, whatever kind of file it is. Throws Fault that calls it `what`.
inline std::vector<std::uint8_t> read_file(const std::string& path, const std::string& what) {
  const auto refuse = [&] { throw Fault("cannot read the " + what + " '" + path + "': " + error_text(errno)); };
  const std::string place = paths::tidy(path);
  const Descriptor file(uninterrupted([&] { return ::open(place.c_str(), O_RDONLY | O_CLOEXEC); }));
  if (file.number() < 0) refuse();
  struct stat status {};
  const bool sized = fstat(file.number(), &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0;
  std::vector<std::uint8_t> data(sized ? static_cast<std::size_t>(status.st_size) + 1 : buffer_bytes);
  std::size_t filled = 0;
  for (;;) {
    if (filled == data.size()) data.resize(2 * data.size());
    const ssize_t n =
        uninterrupted([&] { return ::read(file.number(), data.data() + filled, data.size() - filled); });
    if (n < 0) refuse();
    if (n == 0) break;
    filled += static_cast<std::size_t>(n);
  }
  data.resize(filled);
  return data;
}

OpenFile::OpenFile(int descriptor, Mode mode) : descriptor_(descriptor), mode_(mode) {
  struct stat status {};
  const bool sized = fstat(descriptor, &status) == 0 && status.st_blksize > 1;
  buffer_.resize(sized ? static_cast<std::size_t>(status.st_blksize) : buffer_bytes);
  seekable_ = lseek(descriptor, 0, SEEK_CUR) >= 0;
}

OpenFile::~OpenFile() {
  try {
    close();
  } catch (const ConfigError&) {  // only after another error, which is told
  }
}

void OpenFile::require_open(const char* operation) const {
  if (closed()) throw Fault(std::string("ValueError: ") + operation + " closed file");
}

std::vector<std::uint8_t> OpenFile::read(std::int64_t count) {
  require_open("read of");
  if (mode_ == Mode::write) throw Fault("UnsupportedOperation: read");
  const auto wanted = static_cast<std::size_t>(count);
  std::vector<std::uint8_t> data;
  const std::size_t known = std::min(wanted, left());
  const auto begin = buffer_.begin() + static_cast<std::ptrdiff_t>(position_);
  data.assign(begin, begin + static_cast<std::ptrdiff_t>(known));
  position_ += known;
  if (known == wanted) return data;
  write_out();
  drop(tell());
  // Whole blocks come without the buffer, the rest through it.
  const auto end = static_cast<std::size_t>(std::max<std::int64_t>(0, size() - tell()));
  const std::size_t direct = std::min(wanted - known, end) / buffer_.size() * buffer_.size();
  data.resize(known + direct);
  data.resize(known + fetch(data.data() + known, direct, start_));
  drop(start_ + static_cast<std::int64_t>(data.size() - known));
  while (data.size() < wanted) {
    drop(tell());
    filled_ = fetch(buffer_.data(), buffer_.size(), start_);
    if (filled_ == 0) break;
    position_ = std::min(filled_, wanted - data.size());
    data.insert(data.end(), buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(position_));
  }
  return data;
}

int OpenFile::read_byte() {
  if (left() > 0 && !closed()) return buffer_[position_++];
  const std::vector<std::uint8_t> data = read(1);
  return data.empty() ? -1 : data.front();
}

void OpenFile::write(Bytes data) {
  if (copy_) std::exchange(copy_, nullptr)();
  require_open("write to");
  if (mode_ == Mode::read) throw Fault("UnsupportedOperation: write");
  if (data.size() > buffer_.size() - position_ || data.size() >= buffer_.size()) {
    write_out();
    drop(tell());
    if (data.size() > buffer_.size()) {
      store(data, start_);
      drop(start_ + static_cast<std::int64_t>(data.size()));
      return;
    }
  }
  if (data.empty()) return;
  std::memcpy(buffer_.data() + position_, data.data(), data.size());
  dirty_from_ = dirty_from_ == dirty_to_ ? position_ : std::min(dirty_from_, position_);
  position_ += data.size();
  dirty_to_ = std::max(dirty_to_, position_);
  filled_ = std::max(filled_, position_);
}

void OpenFile::seek(std::int64_t position) {
  require_open("seek of");
  const std::int64_t end = start_ + static_cast<std::int64_t>(filled_);
  if (mode_ != Mode::write && left() > 0 && start_ <= position && position <= end) {
    position_ = static_cast<std::size_t>(position - start_);
    return;
  }
  write_out();
  drop(position);
}

std::int64_t OpenFile::tell() const {
  require_open("I/O operation on");
  return start_ + static_cast<std::int64_t>(position_);
}

std::int64_t OpenFile::size() {
  require_open("I/O operation on");
  const std::int64_t here = tell();
  write_out();
  drop(here);
  struct stat status {};
  if (fstat(descriptor_, &status) != 0) refuse_by_system("reading", errno);
  return status.st_size;
}

void OpenFile::flush() {
  require_open("flush of");
  write_out();
  if (mode_ != Mode::write) drop(tell());
}

void OpenFile::close() {
  if (closed()) return;
  const Descriptor last(descriptor_);
  try {
    write_out();
  } catch (const ConfigError&) {
    descriptor_ = -1;
    throw;
  }
  descriptor_ = -1;
}

void OpenFile::turn_to(int descriptor) {
  const std::int64_t here = tell();
  ::close(std::exchange(descriptor_, descriptor));
  mode_ = Mode::both;
  copy_ = nullptr;
  drop(here);
}

/// Reads up to `count` bytes from a place of the file; fewer only at its end.
std::size_t OpenFile::fetch(std::uint8_t* to, std::size_t count, std::int64_t from) {
  std::size_t got = 0;
  while (got < count) {
    const ssize_t n = uninterrupted(
        [&] { return pread(descriptor_, to + got, count - got, from + static_cast<std::int64_t>(got)); });
    if (n < 0) refuse_by_system("reading", errno);
    if (n == 0) break;
    got += static_cast<std::size_t>(n);
  }
  return got;
}

void OpenFile::store(Bytes data, std::int64_t at) {
  const int error = write_all(descriptor_, data, seekable_ ? at : -1);
  if (error != 0) refuse_by_system("writing", error);
}

void OpenFile::write_out() {
  const std::size_t from = std::exchange(dirty_from_, 0), to = std::exchange(dirty_to_, 0);
  if (from < to) store(Bytes(buffer_).subspan(from, to - from), start_ + static_cast<std::int64_t>(from));
}

/// Forgets what the buffer holds; the position in the file becomes `position`.
void OpenFile::drop(std::int64_t position) {
  start_ = position;
  position_ = filled_ = 0;
}

}  // namespace dse::natives
