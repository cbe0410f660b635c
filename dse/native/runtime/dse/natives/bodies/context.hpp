// Bodies of dse/context.hpp.
#pragma once

#include <fcntl.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dse/at_work.hpp"
#include "dse/context.hpp"
#include "dse/errors.hpp"
#include "dse/natives/bodies/open_file.hpp"
#include "dse/natives/bodies/paths.hpp"

namespace dse {

namespace natives {

Families::Families(Context& context)
    : source(context),
      descriptors(context),
      writer(context),
      writers(context),
      display(context),
      picture(context),
      access_file(context),
      channel(context),
      console(context),
      compare(context),
      samples(context),
      packets(context),
      quadrature(context) {}

OpenFiles::OpenFiles(const RunOptions& options, const std::string& home, const std::string& files)
    : access(options, home, files) {}

std::int64_t OpenFiles::keep(FilePointer file) {
  files_[next_number_] = std::move(file);
  return next_number_++;
}

OpenFile& OpenFiles::file(std::int64_t number) {
  const auto found = files_.find(number);
  if (found == files_.end()) throw Fault("the program uses file " + std::to_string(number) + ", which is not open");
  return *found->second;
}

void OpenFiles::close(std::int64_t number) {
  const auto found = files_.extract(number);
  if (!found.empty()) found.mapped()->close();
}

FilePointer OpenFiles::create(const std::string& path) {
  const std::string place = paths::tidy(path);
  const int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
  Descriptor descriptor(uninterrupted([&] { return ::open(place.c_str(), flags, 0666); }));
  if (descriptor.number() < 0) throw Fault("cannot open '" + path + "': " + error_text(errno));
  auto file = std::make_shared<OpenFile>(descriptor.number(), OpenFile::Mode::write);
  descriptor.release();
  keep(file);
  access.written.push_back(path);
  return file;
}

void OpenFiles::close_all() {
  std::optional<ConfigError> first;
  for (auto& [number, file] : std::exchange(files_, {})) {
    try {
      file->close();
    } catch (const ConfigError& error) {
      if (!first) first = error;
    }
  }
  if (first) throw ConfigError(*first);
}

}  // namespace natives

namespace detail {

/// Returns what stands for who prints: the actor at work, or a thread without one.
inline const void* printer() {
  static thread_local char thread = 0;
  return actor_at_work != nullptr ? static_cast<const void*>(actor_at_work) : &thread;
}

/// Throws a fault of no place in the program as an error of the run.
template <class Make>
auto without_place(Make make) {
  try {
    return make();
  } catch (const Fault& fault) {
    throw RunError(fault.what(), Site{}, fault.expected);
  }
}

}  // namespace detail

Context::Context(const RunOptions& options, const std::string& home, const std::string& files,
                 std::function<void(std::string_view)> sink)
    : options(options),
      screen(options),
      files(detail::without_place([&] { return natives::OpenFiles(options, home, files); })),
      natives(*this),
      sink_(std::move(sink)) {}

void Context::output(std::string_view text) {
  if (!threaded_) {
    sink_(text);
    return;
  }
  const std::lock_guard lock(output_mutex_);
  std::string& line = unfinished_[detail::printer()];
  const std::size_t end = text.rfind('\n');
  if (end == text.npos) {
    line += text;
    return;
  }
  line += text.substr(0, end + 1);
  sink_(std::exchange(line, std::string(text.substr(end + 1))));
}

void Context::end_thread() {
  const std::lock_guard lock(output_mutex_);
  const auto rest = unfinished_.extract(detail::printer());
  if (!rest.empty() && !rest.mapped().empty()) sink_(rest.mapped());
}

/// Prints the last lines of all actors, which have no end, in the order of the actors.
void Context::finish_lines() {
  const std::lock_guard lock(output_mutex_);
  for (const auto& [printer, line] : std::exchange(unfinished_, {})) {
    if (!line.empty()) sink_(line);
  }
}

natives::Bytes Context::read_input() {
  const std::lock_guard lock(input_mutex_);
  if (!input_) {
    const std::string path = input_path();
    if (natives::paths::is_folder(path)) {
      throw Fault("the input '" + path + "' is a folder", -1, "give a file with -i");
    }
    input_ = natives::read_file(path, "input");
  }
  return *input_;
}

std::string Context::input_path() {
  asked_input = true;
  if (!options.input) {
    throw Fault("the network reads an input, but none was given", -1, "give a file with -i INPUT");
  }
  return natives::paths::tidy(*options.input);
}

std::pair<std::string, std::vector<std::uint8_t>> Context::input_in(const std::string& name) {
  const std::string path = input_path();
  if (!natives::paths::is_folder(path)) return {path, natives::read_file(path, "input")};
  const std::string inner = natives::paths::join(path, name);
  const auto lock = files.use();
  const natives::FilePointer file = files.access.read_path(inner);
  return {inner, file->read(file->size())};
}

std::optional<std::string> Context::writer_path() const {
  return options.write && !options.write->empty() ? options.write : options.output;
}

void Context::close() {
  finish_lines();
  const auto lock = files.use();
  files.close_all();
  screen.close();
}

void Context::check_input() const {
  const std::lock_guard lock(input_mutex_);
  if (input_ && input_->empty()) throw RunError("the input '" + *options.input + "' is empty", Site{}, "");
}

std::vector<std::string> Context::warnings() const {
  std::vector<std::string> found;
  if (options.input && !asked_input) found.push_back("the network reads no input; -i has no effect");
  if (options.loops > 1 && !asked_loops) found.push_back("the network reads its input once; -l has no effect");
  return found;
}

std::vector<std::string> Context::outputs() const {
  std::vector<std::string> paths = files.access.written;
  for (std::string& path : screen.files()) paths.push_back(std::move(path));
  return paths;
}

}  // namespace dse
