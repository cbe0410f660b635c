// Bodies of dse/natives/files.hpp.
#pragma once

#include <string>

#include "dse/context.hpp"
#include "dse/natives/bodies/numbers.hpp"
#include "dse/natives/bodies/open_file.hpp"
#include "dse/natives/bodies/source.hpp"

namespace dse::natives {

namespace detail {

inline void write_low_byte(OpenFile& file, std::int64_t byte) {
  const std::uint8_t low = low_byte(byte);
  file.write({&low, 1});
}

}  // namespace detail

// AccessFile ----------------------------------------------------------------------------------------------------------

std::int64_t AccessFile::open(const std::string& name) {
  const auto lock = context_.files.use();
  return context_.files.keep(context_.files.access.update_named(name));
}

std::int64_t AccessFile::close(std::int64_t number) {
  const auto lock = context_.files.use();
  context_.files.close(number);
  return 0;
}

std::int64_t AccessFile::read_byte(std::int64_t number) {
  const auto lock = context_.files.use();
  const int byte = context_.files.file(number).read_byte();
  if (byte < 0) throw Fault("the program reads beyond the end of a file");
  return byte;
}

/// Returns at most `room` of the next `count` bytes; what has no place is read all the same.
std::vector<std::uint8_t> AccessFile::next(std::int64_t number, std::int64_t count, std::int64_t room) {
  const auto lock = context_.files.use();
  OpenFile& file = context_.files.file(number);
  std::vector<std::uint8_t> data = file.read(std::min(detail::amount(count, "reads"), room));
  if (count > room) {
    const std::int64_t here = file.tell(), end = file.size();
    file.seek(count - room < end - here ? here + count - room : end);
  }
  return data;
}

void AccessFile::write_byte(std::int64_t number, std::int64_t byte) {
  const auto lock = context_.files.use();
  detail::write_low_byte(context_.files.file(number), byte);
}

void AccessFile::put(std::int64_t number, Bytes data, std::int64_t count) {
  const auto lock = context_.files.use();
  OpenFile& file = context_.files.file(number);
  detail::amount(count, "writes");
  file.write(data);
}

std::int64_t AccessFile::size(std::int64_t number) {
  const auto lock = context_.files.use();
  return context_.files.file(number).size();
}

void AccessFile::seek(std::int64_t number, std::int64_t position) {
  constexpr std::int64_t largest_file = std::int64_t{1} << 40;  // a program that seeks beyond is mistaken
  if (position < 0 || position >= largest_file) {
    throw Fault("the program seeks byte " + std::to_string(position) + " of a file");
  }
  const auto lock = context_.files.use();
  context_.files.file(number).seek(position);
}

std::int64_t AccessFile::position(std::int64_t number) {
  const auto lock = context_.files.use();
  return context_.files.file(number).tell();
}

// FileChannel ---------------------------------------------------------------------------------------------------------

std::int64_t FileChannel::open(const std::string& name, const std::string& mode) {
  const auto lock = context_.files.use();
  FileAccess& access = context_.files.access;
  return context_.files.keep(mode.find('r') != mode.npos ? access.read_named(name) : access.create_named(name));
}

bool FileChannel::exists(std::int64_t number) {
  const auto lock = context_.files.use();
  return context_.files.is_open(number);
}

void FileChannel::close(std::int64_t number) {
  const auto lock = context_.files.use();
  context_.files.close(number);
}

bool FileChannel::input_ended(std::int64_t number) {
  const auto lock = context_.files.use();
  return ended_.count(number) != 0;
}

std::int64_t FileChannel::read_byte(std::int64_t number) {
  const auto lock = context_.files.use();
  const int byte = context_.files.file(number).read_byte();
  if (byte < 0) ended_.insert(number);
  return byte;
}

void FileChannel::write_byte(std::int64_t number, std::int64_t byte) {
  const auto lock = context_.files.use();
  detail::write_low_byte(context_.files.file(number), byte);
}

// Console -------------------------------------------------------------------------------------------------------------

std::int64_t Console::open(const std::string&) {
  const std::lock_guard lock(mutex_);
  return ++opened_;
}

std::string Console::read(std::int64_t) {
  const std::lock_guard lock(mutex_);
  const std::vector<std::string>& lines = context_.options.console_input;
  if (next_line_ >= lines.size()) {
    throw Fault("the program reads from the console, but no line is left for it");
  }
  return lines[next_line_++];
}

std::int64_t Console::read_integer(std::int64_t number) {
  const std::string line = read(number);
  const std::optional<std::int64_t> value = detail::integer_of(line);
  if (!value) throw Fault("the program reads an integer from the console, not '" + line + "'");
  return *value;
}

void Console::write(std::int64_t, const std::string& text) { context_.output(text); }

// Compare -------------------------------------------------------------------------------------------------------------

void Compare::init() {
  const std::lock_guard lock(mutex_);
  load();
}

void Compare::load() {
  if (reference_) return;
  if (!context_.options.reference) {
    throw Fault("the network compares its output, but no reference was given", -1, "give a file with -y REFERENCE");
  }
  reference_ = read_file(paths::tidy(*context_.options.reference), "reference");
}

/// Returns the bytes of the reference from `start` on, as many as there are.
Bytes Compare::expected(std::int64_t start, std::int64_t count) const {
  const auto size = static_cast<std::int64_t>(reference_->size());
  const std::int64_t from = std::min(start, size), length = std::min(count, size - from);
  return Bytes(*reference_).subspan(static_cast<std::size_t>(from), static_cast<std::size_t>(length));
}

/// Returns a position moved on; behind the reference all are alike, so that sums need not grow without bound.
std::int64_t Compare::further(std::int64_t position, std::int64_t count) {
  constexpr std::int64_t far = std::int64_t{1} << 61;
  return std::min(position, far) + std::min(count, far);
}

void Compare::byte(std::int64_t value) {
  const std::uint8_t low = low_byte(value);
  compare({&low, 1}, 1);
}

void Compare::compare(Bytes data, std::int64_t count) {
  const std::lock_guard lock(mutex_);
  load();
  detail::amount(count, "compares");
  const Bytes wanted = expected(position_, count);
  position_ = further(position_, count);
  context_.screen.count(data, wanted);
}

void Compare::compare_next(Bytes data, std::int64_t count) {
  const std::lock_guard lock(mutex_);
  load();
  if (count < 1) throw Fault("the program compares " + std::to_string(count) + " bytes");
  const auto size = static_cast<std::int64_t>(reference_->size());
  std::int64_t start = position_;
  const auto is_other = [&] {
    const Bytes block = expected(start, count);
    return !std::equal(block.begin(), block.end(), data.begin(), data.end());
  };
  while (start < size && is_other()) start = further(start, count);
  position_ = further(start, count);
  context_.screen.count(data, expected(start, count));
}

}  // namespace dse::natives
