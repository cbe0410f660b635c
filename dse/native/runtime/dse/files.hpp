// Reading small files, and writing files that are whole or not there: written under another name beside the final one,
// then renamed, as dse/base/files.py does it.
#pragma once

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dse/errors.hpp"

namespace dse {

/// Return the content of a file, at most so many bytes of it. Throws ConfigError that says why it cannot be read.
inline std::string read_file(const std::string& path, std::size_t most_bytes) {
  const auto refuse = [&](const std::string& why) { throw ConfigError({why, Place{path}, ""}); };
  if (path.empty() || path.find('\0') != path.npos) {
    refuse("this is not a file name");
  }
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    refuse(errno == ENOENT ? "no such file" : "cannot read this file: " + std::string(std::strerror(errno)));
  }
  std::string data;
  std::vector<char> piece(std::size_t{1} << 16);
  while (data.size() < most_bytes) {
    const ssize_t count = ::read(file, piece.data(), std::min(piece.size(), most_bytes - data.size()));
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count < 0) {
      const int reason = errno;
      ::close(file);
      refuse(reason == EISDIR ? "this is a folder, not a file"
                              : "cannot read this file: " + std::string(std::strerror(reason)));
    }
    if (count == 0) {
      break;
    }
    data.append(piece.data(), static_cast<std::size_t>(count));
  }
  ::close(file);
  return data;
}

/// The system refuses to write a file: a disk is full, it may not be written, ...
class WriteError : public ConfigError {
 public:
  WriteError(const std::string& path, int reason)
      : ConfigError({"'" + path + "': " + std::strerror(reason),
                     {},
                     "make room, or choose a place that can be read and written, and start again"},
                    exit_failed),
        reason_(reason) {}

  /// The error of the system.
  int reason() const { return reason_; }

 private:
  int reason_;
};

/// Open a file for a while: beside another one, as that is where room was looked for; without a name, so that it is
/// gone with the process. Return -1 with the error in `errno`.
inline int nameless_file_beside(const std::string& path) {
  const std::size_t end = path.rfind('/');
  std::string name = (end == path.npos ? std::string() : path.substr(0, end + 1)) + ".dse-XXXXXX";
  int file = ::mkstemp(name.data());
  if (file < 0) {
    name = "/tmp/.dse-XXXXXX";  // beside a device, for example
    file = ::mkstemp(name.data());
  }
  if (file >= 0) {
    ::fcntl(file, F_SETFD, FD_CLOEXEC);
    ::unlink(name.c_str());
  }
  return file;
}

/// A file that gets its name when `finish` is called; without that, what has the name stays as it was.
///
/// It keeps the rights of the file that it replaces, and a link stays a link. What is no ordinary file (a pipe,
/// /dev/null) is written to directly. Throws WriteError.
class WholeFile {
 public:
  explicit WholeFile(std::string path) : path_(std::move(path)), final_(real_path(path_)) {
    struct stat status = {};
    const bool exists = ::stat(final_.c_str(), &status) == 0;
    direct_ = exists && !S_ISREG(status.st_mode);
    if (exists && !direct_ && ::access(final_.c_str(), W_OK) != 0) {
      throw WriteError(path_, errno);
    }
    if (direct_) {
      open(final_, O_WRONLY | O_TRUNC);
      return;
    }
    open_beside();
    if (exists && ::fchmod(file_, status.st_mode & 07777) != 0) {
      abandon(errno);
    }
  }
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;
  ~WholeFile() { drop(); }

  void write(std::string_view data) {
    while (!data.empty()) {
      const ssize_t count = ::write(file_, data.data(), data.size());
      if (count < 0 && errno != EINTR) {
        abandon(errno);
      }
      data.remove_prefix(count < 0 ? 0 : static_cast<std::size_t>(count));
    }
  }

  /// Whether it can be written at any place, until it is finished.
  bool is_ordinary() const { return !direct_; }
  int number() const { return file_; }
  const std::string& path() const { return path_; }

  /// Give the file its name.
  void finish() {
    const int file = std::exchange(file_, -1);
    if (::close(file) != 0) {
      abandon(errno);
    }
    if (!direct_ && ::rename(temporary_.c_str(), final_.c_str()) != 0) {
      abandon(errno);
    }
    temporary_.clear();
  }

  /// Throw the error of the system, and leave what has the name as it was.
  [[noreturn]] void abandon(int reason) {
    drop();
    throw WriteError(path_, reason);
  }

 private:
  void open(const std::string& name, int flags) {
    file_ = ::open(name.c_str(), flags | O_CLOEXEC, 0666);
    if (file_ < 0) {
      throw WriteError(path_, errno);
    }
  }

  /// Open a new file in the folder of the final one; of names that exist already, another one is taken.
  void open_beside() {
    for (int attempt = 0;; ++attempt) {
      const std::string name =
          folder_of(final_) + "/.dse-" + std::to_string(::getpid()) + "-" + std::to_string(attempt) + ".part";
      file_ = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      if (file_ >= 0) {
        temporary_ = name;
        return;
      }
      if (errno != EEXIST || attempt == 1000) {
        throw WriteError(path_, errno);
      }
    }
  }

  void drop() noexcept {
    if (file_ >= 0) {
      ::close(file_);
      file_ = -1;
    }
    if (!temporary_.empty()) {
      ::unlink(temporary_.c_str());
      temporary_.clear();
    }
  }

  /// Return where links lead; of a file that is not there yet, where its folder lies.
  static std::string real_path(const std::string& path) {
    if (std::string found; resolve(path, found)) {
      return found;
    }
    char target[PATH_MAX];
    const ssize_t length = ::readlink(path.c_str(), target, sizeof target);  // of a link that leads to nothing yet
    if (length > 0 && length < static_cast<ssize_t>(sizeof target)) {
      const std::string name(target, static_cast<std::size_t>(length));
      return name.front() == '/' ? name : folder_of(path) + "/" + name;
    }
    return path;
  }

  static bool resolve(const std::string& path, std::string& found) {
    char* resolved = ::realpath(path.c_str(), nullptr);
    if (resolved == nullptr) {
      return false;
    }
    found = resolved;
    std::free(resolved);
    return true;
  }

  static std::string folder_of(const std::string& path) {
    const std::size_t end = path.rfind('/');
    return end == path.npos ? "." : path.substr(0, end);
  }

  std::string path_;
  std::string final_;
  std::string temporary_;
  int file_ = -1;
  bool direct_ = false;
};

}  // namespace dse
