// Files that are whole or not there: written under a temporary name beside the final one, then renamed.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <random>
#include <string>
#include <system_error>
#include <utility>

#include "dse/natives/bodies/open_file.hpp"
#include "dse/natives/bodies/paths.hpp"

namespace dse::natives {

/// A file that gets its name when it is finished; if that does not happen, what had the name is as it was. It keeps the
/// rights of the file that it replaces, and a link stays a link. What is no ordinary file (a pipe, /dev/null) is
/// written to directly. All functions throw std::system_error.
class WholeFile {
 public:
  explicit WholeFile(const std::string& path) : final_(paths::resolved(path, path)) {
    struct stat status {};
    const bool there = stat(final_.c_str(), &status) == 0;
    if (!there && errno != ENOENT && errno != ENOTDIR && errno != ELOOP) fail();
    if (there) mode_ = status.st_mode;
    if (there && !S_ISREG(mode_)) {
      open_at(final_, O_WRONLY | O_CREAT | O_TRUNC);
      return;
    }
    if (there && access(final_.c_str(), W_OK) != 0) fail();
    temporary_ = paths::join(paths::folder_of(final_), ".dse-" + random_name() + ".part");
    open_at(temporary_, O_WRONLY | O_CREAT | O_EXCL);
  }
  ~WholeFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!temporary_.empty()) unlink(temporary_.c_str());
  }
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;

  void write(Bytes data) {
    while (!data.empty()) {
      const ssize_t n = uninterrupted([&] { return ::write(descriptor_, data.data(), data.size()); });
      if (n < 0) fail();
      data = data.subspan(static_cast<std::size_t>(n));
    }
  }
  /// Cuts the file; a pipe has taken what it has taken.
  void cut(std::int64_t size) {
    if (lseek(descriptor_, 0, SEEK_CUR) >= 0 && ftruncate(descriptor_, size) != 0 && !temporary_.empty()) fail();
  }
  void finish() {
    if (::close(std::exchange(descriptor_, -1)) != 0) fail();
    if (temporary_.empty()) return;
    if (mode_ != 0 && chmod(temporary_.c_str(), mode_ & 07777) != 0) fail();
    if (std::rename(temporary_.c_str(), final_.c_str()) != 0) fail();
    temporary_.clear();
  }

 private:
  [[noreturn]] static void fail() { throw std::system_error(errno, std::generic_category()); }

  static std::string random_name() {
    std::random_device device;
    std::array<char, 24> text{};
    std::snprintf(text.data(), text.size(), "%08x%08x", device(), device());
    return text.data();
  }

  void open_at(const std::string& path, int flags) {
    descriptor_ = uninterrupted([&] { return ::open(path.c_str(), flags | O_CLOEXEC, 0666); });
    if (descriptor_ >= 0) return;
    temporary_.clear();  // it is not ours
    fail();
  }

  std::string final_;
  std::string temporary_;
  mode_t mode_ = 0;
  int descriptor_ = -1;
};

}  // namespace dse::natives
