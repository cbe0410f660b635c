// Pictures that a program shows: written to files as they come, compared with a reference.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "dse/natives/open_file.hpp"
#include "dse/run_types.hpp"

namespace dse {
class WholeFile;
}

namespace dse::natives {

/// Samples of 8 bits, line by line.
struct Plane {
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::vector<std::uint8_t> samples;
};

/// Pictures (or blocks of bytes) compared with the reference; `max_difference` over all samples.
struct Comparison {
  std::int64_t compared = 0;
  std::int64_t equal = 0;
  std::int64_t max_difference = 0;
  std::int64_t missing = 0;  // those for which the reference was too short
};

/// Takes the pictures of a run. Chroma planes may be smaller than luma. May be called by several threads.
class Screen {
 public:
  explicit Screen(const RunOptions& options);
  ~Screen();

  /// Shows one picture: writes it if an output is given, compares it if a reference is.
  void show(const std::vector<Plane>& planes);
  /// Compares a picture with the next one of the reference, which starts again after its last.
  void compare(const std::vector<Plane>& planes);
  /// Counts a comparison of bytes with the bytes of the reference.
  void count(Bytes data, Bytes expected);
  /// Returns whether as many pictures were shown as were asked for.
  bool full() const;
  /// Throws ProgramExit if as many pictures were shown as were asked for.
  void end_if_full() const;
  /// Finishes the file of planar pictures, which gets its name now: with all whole pictures, also after an error.
  void close();

  std::int64_t frames() const;
  /// Returns what the comparisons gave, or nothing without a reference or a picture.
  std::optional<Comparison> comparison() const;
  std::vector<std::string> files() const;

  /// The program calls a compare native of its own, so that `show` must not compare too. Set before the run.
  bool compares_itself = false;

 private:
  bool is_full() const { return options_.frames && frames_ >= *options_.frames; }
  void compare_locked(const std::vector<Plane>& planes);
  void count_locked(Bytes data, Bytes expected);
  void write(const std::vector<Plane>& planes);
  void append(const std::vector<Plane>& planes);
  void write_picture(const std::vector<Plane>& planes);

  const RunOptions& options_;
  mutable std::mutex mutex_;
  std::string suffix_;
  std::int64_t frames_ = 0;
  std::vector<std::string> files_;
  Comparison counts_;
  std::unique_ptr<WholeFile> stream_;
  std::int64_t whole_ = 0;  // bytes of whole pictures in the stream
  std::optional<std::vector<std::uint8_t>> reference_;
  std::size_t position_ = 0;  // in the reference
};

}  // namespace dse::natives
