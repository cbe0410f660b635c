// Bodies of dse/natives/writer.hpp.
#pragma once

#include <string>

#include "dse/context.hpp"
#include "dse/natives/bodies/paths.hpp"
#include "dse/natives/bodies/source.hpp"

namespace dse::natives {

void Writer::init() {
  const auto lock = context_.files.use();
  if (file_) return;
  const std::optional<std::string> path = context_.writer_path();
  const std::optional<std::string>& unnamed = context_.options.unnamed_output;
  if (path) {
    file_ = context_.files.create(*path);
    return;
  }
  if (!unnamed) throw Fault("the network writes a file, but no name was given", -1, "give one with -o OUT");
  file_ = context_.files.access.create_named(*unnamed);
  context_.files.keep(file_);
}

void Writer::write(std::int64_t byte) {
  const auto lock = context_.files.use();
  if (!file_) throw Fault("the program writes before it opened its output");
  const std::uint8_t low = low_byte(byte);
  file_->write({&low, 1});
}

void Writer::close() {
  const auto lock = context_.files.use();
  if (file_) file_->flush();
  throw ProgramExit{0, false};
}

std::int64_t Writers::open(const std::string& name) {
  const auto lock = context_.files.use();
  const std::optional<std::string> path = context_.writer_path();
  std::int64_t number = 0;
  if (!path) {
    number = context_.files.keep(context_.files.access.create_named(name));
  } else if (paths::is_folder(*path)) {
    number = context_.files.keep(context_.files.access.create_in(*path, name));
  } else {
    context_.files.create(*path);
    number = context_.files.last_number();
  }
  opened_.insert(number);
  return number;
}

void Writers::put(std::int64_t number, Bytes data, std::int64_t count) {
  const auto lock = context_.files.use();
  OpenFile& file = context_.files.file(number);
  detail::amount(count, "writes");
  file.write(data);
}

void Writers::close_and_quit(std::int64_t number) {
  const auto lock = context_.files.use();
  context_.files.close(number);
  if (opened_.erase(number) != 0 && opened_.empty()) throw ProgramExit{0, false};
}

}  // namespace dse::natives
