// The outside world of one run: options, files, pictures, what the program prints, and the native functions.
//
// The bodies are in dse/natives/bodies.hpp, which exactly one file of a program includes.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dse/natives/access.hpp"
#include "dse/natives/display.hpp"
#include "dse/natives/files.hpp"
#include "dse/natives/missing.hpp"
#include "dse/natives/screen.hpp"
#include "dse/natives/signals.hpp"
#include "dse/natives/simulation.hpp"
#include "dse/natives/source.hpp"
#include "dse/natives/writer.hpp"
#include "dse/run_types.hpp"

namespace dse {

class Context;

namespace natives {

/// The native functions by family. One instance of each serves all actors; each may be called by several threads.
struct Families {
  explicit Families(Context& context);

  Source source;
  Descriptors descriptors;
  Writer writer;
  Writers writers;
  Display display;
  LinePicture picture;
  AccessFile access_file;
  FileChannel channel;
  Console console;
  Compare compare;
  SampleFiles samples;
  Packets packets;
  Quadrature quadrature;
  Simulation simulation;
};

/// The files that a program has open, by number. One thread at a time: who has made a `Use` may touch files and access.
class OpenFiles {
 public:
  OpenFiles(const RunOptions& options, const std::string& home, const std::string& files);

  /// Holds the lock as long as it lives.
  using Use = std::unique_lock<std::recursive_mutex>;
  Use use() { return Use(mutex_); }

  /// Returns the number under which the program knows an open file.
  std::int64_t keep(FilePointer file);
  /// Returns an open file. Throws Fault for a number that is none.
  OpenFile& file(std::int64_t number);
  bool is_open(std::int64_t number) const { return files_.count(number) != 0; }
  std::int64_t last_number() const { return files_.rbegin()->first; }
  /// Closes a file; closing one that is not open has no effect.
  void close(std::int64_t number);
  /// Opens a file that the user named for writing; it is an output of the run, and closed at its end.
  FilePointer create(const std::string& path);
  /// Closes all; throws the first error after that.
  void close_all();

  FileAccess access;

 private:
  std::recursive_mutex mutex_;
  std::map<std::int64_t, FilePointer> files_;
  std::int64_t next_number_ = 3;
};

}  // namespace natives

/// One for each run. Everything but the constructor, `close` and `set_threaded` may be called by several threads.
class Context {
 public:
  /// `home`: the folder of the network; `files`: where files are created that the program names; `sink` takes what the
  /// program prints. Throws ConfigError for folders that cannot be what they are named for.
  Context(const RunOptions& options, const std::string& home, const std::string& files,
          std::function<void(std::string_view)> sink);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  /// Prints. With several threads, what an actor prints comes line by line, wherever it runs: no line is torn.
  void output(std::string_view text);
  /// Says that several threads are going to print.
  void set_threaded(bool threaded) { threaded_ = threaded; }
  /// Prints what the calling thread has printed of a line while no actor was at work; it ends now.
  void end_thread();

  /// Returns the bytes of the input file. Throws Fault when there is none or it cannot be read.
  natives::Bytes read_input();
  /// Returns the path of the input. Throws Fault when none was given.
  std::string input_path();
  /// Returns the path and the bytes of file `name` of the input folder; -i may also name that file itself.
  std::pair<std::string, std::vector<std::uint8_t>> input_in(const std::string& name);
  /// Returns where a writer native writes by the options, or nothing where they say nothing.
  std::optional<std::string> writer_path() const;

  /// Prints unfinished lines, closes all files and finishes the pictures, also after an error. Throws ConfigError if the
  /// system refuses it.
  void close();
  /// Throws RunError if the input that was read is empty. To be called after a run that ended well.
  void check_input() const;
  /// Returns what is to be warned about: options that had no effect.
  std::vector<std::string> warnings() const;
  /// Returns the files that were written, in the order in which they were begun.
  std::vector<std::string> outputs() const;

  const RunOptions& options;
  natives::Screen screen;
  natives::OpenFiles files;
  natives::Families natives;
  std::atomic<bool> asked_input = false;  // whether a native asked where the input is
  std::atomic<bool> asked_loops = false;  // whether a native asked how often the input is to be read

 private:
  std::function<void(std::string_view)> sink_;
  void finish_lines();

  std::mutex output_mutex_;
  std::map<const void*, std::string> unfinished_;  // what each actor has printed of the line that it has not ended
  bool threaded_ = false;
  mutable std::mutex input_mutex_;
  std::optional<std::vector<std::uint8_t>> input_;
};

}  // namespace dse
