// PNG files (ISO/IEC 15948) with a compressor of our own (RFC 1950, RFC 1951), and RGB from full-range YCbCr.
//
// The compressor makes one block with the fixed codes and looks for repetitions at one place for each hash. Files are
// larger than those of zlib, but are written fast, and nothing has to be installed.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "dse/natives/screen.hpp"

namespace dse::natives {

namespace detail {

/// Bits for a deflate stream, the lowest first.
class BitWriter {
 public:
  explicit BitWriter(std::vector<std::uint8_t>& out) : out_(out) {}

  void bits(std::uint32_t value, int count) {
    held_ |= static_cast<std::uint64_t>(value) << n_held_;
    n_held_ += count;
    for (; n_held_ >= 8; n_held_ -= 8, held_ >>= 8) out_.push_back(static_cast<std::uint8_t>(held_));
  }
  void finish() {
    if (n_held_ > 0) bits(0, 8 - n_held_);
  }

 private:
  std::vector<std::uint8_t>& out_;
  std::uint64_t held_ = 0;
  int n_held_ = 0;
};

/// A code of deflate as it is written: Huffman codes go with the highest bit first.
struct Code {
  std::uint32_t bits = 0;
  int length = 0;
};

constexpr Code reversed(std::uint32_t value, int length) {
  std::uint32_t result = 0;
  for (int k = 0; k < length; ++k) result |= ((value >> k) & 1U) << (length - 1 - k);
  return {result, length};
}

/// Returns the fixed code of a literal, the end (256) or a length symbol.
constexpr Code fixed_code(std::uint32_t symbol) {
  if (symbol < 144) return reversed(0x30 + symbol, 8);
  if (symbol < 256) return reversed(0x190 + symbol - 144, 9);
  if (symbol < 280) return reversed(symbol - 256, 7);
  return reversed(0xC0 + symbol - 280, 8);
}

constexpr std::array<Code, 288> make_fixed_codes() {
  std::array<Code, 288> codes{};
  for (std::uint32_t k = 0; k < codes.size(); ++k) codes[k] = fixed_code(k);
  return codes;
}

inline constexpr std::array<Code, 288> fixed_codes = make_fixed_codes();
inline constexpr std::uint32_t least_match = 4;  // bytes; three are hardly shorter than their literals
inline constexpr std::uint32_t longest_match = 258;
inline constexpr std::uint32_t window_bytes = 1 << 15;
inline constexpr int hash_bits = 15;
inline constexpr std::uint32_t end_of_block = 256;

/// Writes a value in the manner of lengths and distances: a symbol for each power of two and each part of it, and
/// the bits below. `split`: bits that tell the parts of a power apart.
struct Stepped {
  std::uint32_t symbol;
  std::uint32_t extra;
  int extra_bits;
};

constexpr Stepped stepped(std::uint32_t value, int split) {
  int extra_bits = 0;
  while (value >> extra_bits >= 2U << split) ++extra_bits;
  const std::uint32_t top = value >> extra_bits;
  return {(static_cast<std::uint32_t>(extra_bits) << split) + top, value & ((1U << extra_bits) - 1), extra_bits};
}

inline void write_match(BitWriter& out, std::uint32_t length, std::uint32_t distance) {
  const Stepped l = length == longest_match ? Stepped{28, 0, 0} : stepped(length - 3, 2);
  const Code code = fixed_codes[257 + l.symbol];
  out.bits(code.bits, code.length);
  out.bits(l.extra, l.extra_bits);
  const Stepped d = stepped(distance - 1, 1);
  const Code place = reversed(d.symbol, 5);
  out.bits(place.bits, place.length);
  out.bits(d.extra, d.extra_bits);
}

inline std::uint32_t four_bytes(const std::uint8_t* at) {
  std::uint32_t value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

/// Appends one deflate block with the fixed codes.
inline void deflate(Bytes data, std::vector<std::uint8_t>& to) {
  BitWriter out(to);
  out.bits(0b011, 3);  // the last block, fixed codes
  std::vector<std::size_t> last(std::size_t{1} << hash_bits, data.size());
  std::size_t at = 0;
  while (at < data.size()) {
    std::uint32_t length = 0;
    std::size_t distance = 0;
    if (data.size() - at >= least_match) {
      const std::uint32_t head = four_bytes(&data[at]);
      std::size_t& place = last[head * 2654435761U >> (32 - hash_bits)];
      distance = place < at ? at - place : 0;
      if (distance != 0 && distance <= window_bytes && four_bytes(&data[place]) == head) {
        const auto most = static_cast<std::uint32_t>(std::min<std::size_t>(longest_match, data.size() - at));
        for (length = least_match; length < most && data[place + length] == data[at + length];) ++length;
      }
      place = at;
    }
    if (length == 0) {
      const Code code = fixed_codes[data[at]];
      out.bits(code.bits, code.length);
      ++at;
    } else {
      write_match(out, length, static_cast<std::uint32_t>(distance));
      at += length;
    }
  }
  out.bits(fixed_codes[end_of_block].bits, fixed_codes[end_of_block].length);
  out.finish();
}

inline std::uint32_t adler32(Bytes data) {
  constexpr std::uint32_t prime = 65521;
  constexpr std::size_t most_bytes = 5552;  // so many additions do not overflow
  std::uint32_t a = 1, b = 0;
  while (!data.empty()) {
    const Bytes piece = data.first(std::min(most_bytes, data.size()));
    for (const std::uint8_t byte : piece) b += a += byte;
    a %= prime;
    b %= prime;
    data = data.subspan(piece.size());
  }
  return b << 16 | a;
}

constexpr std::array<std::uint32_t, 256> crc_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t n = 0; n < table.size(); ++n) {
    std::uint32_t c = n;
    for (int k = 0; k < 8; ++k) c = (c & 1U) != 0 ? 0xEDB88320U ^ c >> 1 : c >> 1;
    table[n] = c;
  }
  return table;
}

inline std::uint32_t crc32(Bytes data) {
  static constexpr std::array<std::uint32_t, 256> terms = crc_table();
  std::uint32_t c = 0xFFFFFFFFU;
  for (const std::uint8_t byte : data) c = terms[(c ^ byte) & 0xFF] ^ c >> 8;
  return ~c;
}

inline void append_number(std::vector<std::uint8_t>& to, std::uint32_t value) {
  for (const int shift : {24, 16, 8, 0}) to.push_back(static_cast<std::uint8_t>(value >> shift));
}

/// Appends a chunk of a PNG file; `kind` has four letters.
inline void append_chunk(std::vector<std::uint8_t>& to, std::string_view kind, Bytes data) {
  append_number(to, static_cast<std::uint32_t>(data.size()));
  const std::size_t begin = to.size();
  to.insert(to.end(), kind.begin(), kind.end());
  to.insert(to.end(), data.begin(), data.end());
  append_number(to, crc32(Bytes(to).subspan(begin)));
}

inline std::vector<std::uint8_t> zlib_stream(Bytes data) {
  std::vector<std::uint8_t> stream = {0x78, 0x01};
  deflate(data, stream);
  append_number(stream, adler32(data));
  return stream;
}

/// What a chroma sample adds to a colour, by sample. A table, and not a product beside a sum, so that no compiler may
/// round only once what Python rounds twice.
inline std::array<double, 256> chroma_terms(double factor) {
  std::array<double, 256> terms{};
  for (int k = 0; k < 256; ++k) terms[static_cast<std::size_t>(k)] = factor * (k - 128);
  return terms;
}

inline std::uint8_t sample_of(double value) {
  return static_cast<std::uint8_t>(std::clamp(std::rint(value), 0.0, 255.0));
}

}  // namespace detail

/// Returns RGB samples of planes of one size; a grey picture has three equal components (ITU-T T.871 section 7).
inline std::vector<std::uint8_t> rgb_samples(const std::vector<Plane>& planes) {
  const std::vector<std::uint8_t>& luma = planes[0].samples;
  std::vector<std::uint8_t> result(3 * luma.size());
  if (planes.size() == 1) {
    for (std::size_t k = 0; k < luma.size(); ++k) std::fill_n(&result[3 * k], 3, luma[k]);
    return result;
  }
  const auto red_of_red = detail::chroma_terms(1.402), blue_of_blue = detail::chroma_terms(1.772);
  const auto green_of_red = detail::chroma_terms(0.299 * 1.402), green_of_blue = detail::chroma_terms(0.114 * 1.772);
  for (std::size_t k = 0; k < luma.size(); ++k) {
    const double y = luma[k];
    const std::uint8_t blue = planes[1].samples[k], red = planes[2].samples[k];
    result[3 * k] = detail::sample_of(y + red_of_red[red]);
    result[3 * k + 1] = detail::sample_of(y - (green_of_red[red] + green_of_blue[blue]) / 0.587);
    result[3 * k + 2] = detail::sample_of(y + blue_of_blue[blue]);
  }
  return result;
}

/// Returns a PNG file: 8-bit grey for one plane, RGB for three, all of one size.
inline std::vector<std::uint8_t> png_file(const std::vector<Plane>& planes) {
  const auto width = static_cast<std::uint32_t>(planes[0].width), height = static_cast<std::uint32_t>(planes[0].height);
  const bool grey = planes.size() == 1;
  const std::vector<std::uint8_t> colours = grey ? std::vector<std::uint8_t>() : rgb_samples(planes);
  const Bytes samples = grey ? Bytes(planes[0].samples) : Bytes(colours);
  const std::size_t line = samples.size() / height;
  std::vector<std::uint8_t> lines;  // each is preceded by its filter, 0 for none
  lines.reserve(samples.size() + height);
  for (std::size_t y = 0; y < height; ++y) {
    lines.push_back(0);
    lines.insert(lines.end(), samples.begin() + static_cast<std::ptrdiff_t>(y * line),
                 samples.begin() + static_cast<std::ptrdiff_t>((y + 1) * line));
  }
  std::vector<std::uint8_t> header;
  detail::append_number(header, width);
  detail::append_number(header, height);
  for (const int value : {8, grey ? 0 : 2, 0, 0, 0}) header.push_back(static_cast<std::uint8_t>(value));
  std::vector<std::uint8_t> file = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
  detail::append_chunk(file, "IHDR", header);
  detail::append_chunk(file, "IDAT", detail::zlib_stream(lines));
  detail::append_chunk(file, "IEND", {});
  return file;
}

}  // namespace dse::natives
