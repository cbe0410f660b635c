// Bodies of dse/natives/signals.hpp.
#pragma once

#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "dse/context.hpp"
#include "dse/natives/bodies/numbers.hpp"
#include "dse/natives/bodies/open_file.hpp"
#include "dse/natives/bodies/paths.hpp"

namespace dse::natives {

std::string fixed_text(double value, int digits) {
  if (std::isnan(value)) return "nan";
  const int size = std::snprintf(nullptr, 0, "%.*f", digits, value);
  std::string text(static_cast<std::size_t>(size) + 1, '\0');
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  text.pop_back();
  return text;
}

// TextSource ----------------------------------------------------------------------------------------------------------

TextSource::TextSource(std::string path, std::vector<std::uint8_t> data)
    : path_(std::move(path)), data_(std::move(data)), end_(data_.size()) {
  const auto other = std::find_if(data_.begin(), data_.end(), [](std::uint8_t byte) { return byte > 127; });
  if (other != data_.end()) end_ = static_cast<std::size_t>(other - data_.begin());
}

std::string TextSource::next_word() {
  if (end_ != data_.size()) {
    data_.clear();
    throw Fault("'" + path_ + "' is no text file: byte " + std::to_string(std::exchange(end_, 0)));
  }
  const auto blank = [this](std::size_t k) { return detail::is_blank(static_cast<char>(data_[k])); };
  while (position_ < end_ && blank(position_)) ++position_;
  std::string word;
  for (; position_ < end_ && !blank(position_); ++position_) word += static_cast<char>(data_[position_]);
  if (word.empty()) throw SourceExhausted();
  return word;
}

void TextSource::refuse(const std::string& word) const {
  throw Fault("'" + path_ + "' holds '" + word + "' where a number should be");
}

std::int64_t TextSource::next_int() {
  const std::string word = next_word();
  const std::optional<std::int64_t> value = detail::integer_of(word);
  if (!value) refuse(word);
  return *value;
}

double TextSource::next_int_as_double() {
  const std::string word = next_word();
  const std::optional<std::string> digits = detail::integer_digits(word);
  if (!digits) refuse(word);
  const double value = std::strtod(digits->c_str(), nullptr);
  if (std::isinf(value)) throw Fault("a value becomes too large");
  return value;
}

double TextSource::next_double() {
  const std::string word = next_word();
  const std::optional<double> value = detail::double_of(word);
  if (!value) refuse(word);
  return *value;
}

// TextSink ------------------------------------------------------------------------------------------------------------

void TextSink::write(const std::string& text) {
  const std::optional<std::string> path = context_.writer_path();
  if (!path) return;
  const std::lock_guard own(mutex_);
  const auto lock = context_.files.use();
  if (!file_) file_ = context_.files.create(part_.empty() ? *path : paths::with_part(*path, part_));
  const std::string line = text + "\n";
  file_->write({reinterpret_cast<const std::uint8_t*>(line.data()), line.size()});
}

// SampleFiles ---------------------------------------------------------------------------------------------------------

void SampleFiles::init(std::int64_t index) {
  const std::lock_guard lock(mutex_);
  auto [path, data] = context_.input_in("input_" + std::to_string(index) + ".in");
  sources_.insert_or_assign(index, TextSource(std::move(path), std::move(data)));
}

TextSource& SampleFiles::source(std::int64_t index) {
  const auto found = sources_.find(index);
  if (found != sources_.end()) return found->second;
  auto [path, data] = context_.input_in("input_" + std::to_string(index) + ".in");
  return sources_.emplace(index, TextSource(std::move(path), std::move(data))).first->second;
}

std::int64_t SampleFiles::produce(std::int64_t index) {
  const std::lock_guard lock(mutex_);
  return source(index).next_int();
}

double SampleFiles::produce_as_double(std::int64_t index) {
  const std::lock_guard lock(mutex_);
  return source(index).next_int_as_double();
}

double SampleFiles::produce_double(std::int64_t index) {
  const std::lock_guard lock(mutex_);
  return source(index).next_double();
}

// Packets -------------------------------------------------------------------------------------------------------------

TextSource& Packets::source() {
  if (!source_) {
    std::string path = context_.input_path();
    std::vector<std::uint8_t> data = read_file(path, "input");
    source_ = std::make_unique<TextSource>(std::move(path), std::move(data));
  }
  return *source_;
}

void Packets::init() {
  const std::lock_guard lock(mutex_);
  source();
}

std::int64_t Packets::size() {
  const std::lock_guard lock(mutex_);
  try {
    return source().next_int();
  } catch (const SourceExhausted&) {
    return 1;
  }
}

std::int64_t Packets::read_byte() {
  const std::lock_guard lock(mutex_);
  return source().next_int() & 0xFF;
}

// Quadrature ----------------------------------------------------------------------------------------------------------

double Quadrature::next(std::size_t part) {
  const std::lock_guard lock(mutexes_[part]);
  if (!sources_[part]) {
    auto [path, data] = context_.input_in(part == 0 ? "in_i.txt" : "in_q.txt");
    sources_[part] = std::make_unique<TextSource>(std::move(path), std::move(data));
  }
  return sources_[part]->next_double();
}

/// Returns the next number rounded to 32 bits. Throws Fault for a finite one that is too large for them.
double Quadrature::next_float(std::size_t part) {
  const double value = next(part);
  if (!std::isfinite(value)) return value;
  // The largest finite float plus half a step: from there on a value rounds to infinity.
  constexpr double beyond = 0x1.ffffffp+127;
  if (std::fabs(value) >= beyond) throw Fault("a value becomes too large");
  return static_cast<double>(static_cast<float>(value));
}

void Quadrature::put(std::size_t part, double value) {
  sinks_[part].write(fixed_text(value, 6));
}

/// Returns the place of an element; negative ones count from the end, as in Python.
std::size_t Quadrature::place(std::int64_t index, std::int64_t length) {
  if (index < -length) throw Fault("IndexError: list assignment index out of range");
  return static_cast<std::size_t>(index < 0 ? index + length : index);
}

}  // namespace dse::natives
