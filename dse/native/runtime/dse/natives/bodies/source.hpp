// Bodies of dse/natives/source.hpp.
#pragma once

#include <string>

#include "dse/context.hpp"
#include "dse/natives/bodies/paths.hpp"

namespace dse::natives {

namespace detail {

/// Returns a number of bytes that a program asks for. Throws Fault for one below 0.
inline std::int64_t amount(std::int64_t count, const char* what) {
  if (count < 0) throw Fault(std::string("the program ") + what + " " + std::to_string(count) + " bytes");
  return count;
}

}  // namespace detail

Bytes Source::input() {
  if (!has_input_) {
    input_ = context_.read_input();
    has_input_ = true;
  }
  return input_;
}

void Source::init() {
  const std::lock_guard lock(mutex_);
  input();
  loops_left_ = context_.options.loops;
  has_loops_ = true;
}

std::int64_t Source::size() {
  const std::lock_guard lock(mutex_);
  return static_cast<std::int64_t>(input().size());
}

/// Returns the next bytes of the input and goes on behind them.
Bytes Source::next(std::int64_t count) {
  const Bytes data = input();
  const auto size = static_cast<std::int64_t>(data.size());
  if (detail::amount(count, "reads") > size - position_) {
    throw Fault("the program reads " + std::to_string(count) + " bytes at " + std::to_string(position_) +
                    " of an input of " + std::to_string(size) + " bytes",
                -1, "give the input that the program expects");
  }
  const auto begin = static_cast<std::size_t>(position_);
  position_ += count;
  return data.subspan(begin, static_cast<std::size_t>(count));
}

std::int64_t Source::read_byte() {
  const std::lock_guard lock(mutex_);
  const Bytes data = input();
  if (data.empty()) throw Fault("the input '" + context_.input_path() + "' is empty");
  if (position_ >= static_cast<std::int64_t>(data.size())) position_ = 0;
  return data[static_cast<std::size_t>(position_++)];
}

void Source::rewind() {
  const std::lock_guard lock(mutex_);
  position_ = 0;
}

void Source::decrement_loops() {
  const std::lock_guard lock(mutex_);
  if (!std::exchange(has_loops_, true)) loops_left_ = context_.options.loops;
  --loops_left_;
}

std::int64_t Source::loops() {
  context_.asked_loops = true;
  return context_.options.loops;
}

bool Source::loops_reached() {
  context_.asked_loops = true;
  const std::lock_guard lock(mutex_);
  return (has_loops_ ? loops_left_ : context_.options.loops) <= 0;
}

void Source::exit(std::int64_t code) {
  // Only the low 32 bits can become an exit code of the system; the run reports them as they are.
  if (code != 0) throw ProgramExit{static_cast<int>(code), false};
  context_.screen.end_if_full();
}

std::int64_t Descriptors::open(const std::string& name) {
  const std::string path = context_.input_path();
  const std::string folder = paths::is_folder(path) ? path : paths::folder_of(path);
  const auto lock = context_.files.use();
  return context_.files.keep(context_.files.access.read_path(paths::join(folder, name)));
}

std::int64_t Descriptors::size(std::int64_t number) {
  const auto lock = context_.files.use();
  return context_.files.file(number).size();
}

std::vector<std::uint8_t> Descriptors::next(std::int64_t number, std::int64_t count) {
  const auto lock = context_.files.use();
  OpenFile& file = context_.files.file(number);
  const std::int64_t left = file.size() - file.tell();
  if (left < detail::amount(count, "reads")) {
    throw Fault("the program reads " + std::to_string(count) + " bytes where file " + std::to_string(number) + " has " +
                std::to_string(left) + " left");
  }
  return file.read(count);
}

void Descriptors::rewind(std::int64_t number) {
  const auto lock = context_.files.use();
  context_.files.file(number).seek(0);
}

void Descriptors::close(std::int64_t number) {
  const auto lock = context_.files.use();
  context_.files.close(number);
}

}  // namespace dse::natives
