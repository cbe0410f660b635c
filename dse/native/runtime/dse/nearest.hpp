// Names that are like another one, by the measure of Ratcliff and Obershelp: what two texts have in common is their
// longest common part, and what the pieces to its left and to its right have in common.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dse/utf8.hpp"

namespace dse {

namespace detail {

inline std::u32string code_points(std::string_view text) {
  std::u32string result;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    result += point.value;
    at += point.bytes;
  }
  return result;
}

/// Counts what texts have in common with one word.
class Likeness {
 public:
  explicit Likeness(std::string_view word) : word_(code_points(word)) {}

  /// Return twice the characters in common, divided by the characters of both; 1 where both are empty.
  double of(std::string_view other) const {
    const std::u32string text = code_points(other);
    const std::size_t length = text.size() + word_.size();
    if (length == 0) {
      return 1.0;
    }
    std::size_t common = 0;
    std::vector<Piece> pieces = {{0, text.size(), 0, word_.size()}};
    while (!pieces.empty()) {
      const Piece piece = pieces.back();
      pieces.pop_back();
      const Part part = longest_part(text, piece);
      if (part.length == 0) {
        continue;
      }
      common += part.length;
      pieces.push_back({piece.begin, part.at, piece.word_begin, part.word_at});
      pieces.push_back({part.at + part.length, piece.end, part.word_at + part.length, piece.word_end});
    }
    return 2.0 * static_cast<double>(common) / static_cast<double>(length);
  }

  /// Return whether the lengths alone allow so great a likeness: for most names the answer is no, and quick.
  bool may_reach(double least, std::string_view other) const {
    const auto length = static_cast<std::size_t>(count_characters(other));
    const std::size_t common = std::min(length, word_.size());
    return 2.0 * static_cast<double>(common) >= least * static_cast<double>(length + word_.size());
  }

 private:
  /// A piece of a text and the piece of the word that it is compared with.
  struct Piece {
    std::size_t begin, end, word_begin, word_end;
  };
  struct Part {
    std::size_t at, word_at, length;
  };

  /// Return the longest common part, the first one in the text, then in the word.
  Part longest_part(const std::u32string& text, const Piece& piece) const {
    Part best{piece.begin, piece.word_begin, 0};
    std::vector<std::size_t> lengths(piece.word_end - piece.word_begin + 1);  // of the part that ends before a place
    for (std::size_t i = piece.begin; i < piece.end; ++i) {
      for (std::size_t j = piece.word_end; j > piece.word_begin; --j) {  // backwards: what is left was of i - 1
        const std::size_t place = j - piece.word_begin;
        const std::size_t length = text[i] == word_[j - 1] ? lengths[place - 1] + 1 : 0;
        lengths[place] = length;
        if (length > best.length || (length == best.length && length > 0 && i + 1 - length == best.at)) {
          best = {i + 1 - length, j - length, length};
        }
      }
    }
    return best;
  }

  std::u32string word_;
};

/// Return at most three names that are like another one, the nearest first.
inline std::vector<std::string> near_names(std::string_view name, const std::vector<std::string>& known) {
  constexpr double least = 0.6;
  constexpr std::size_t most = 3;
  const Likeness likeness(name);
  std::vector<std::pair<double, std::string>> found;
  for (const std::string& other : known) {
    const double value = likeness.may_reach(least, other) ? likeness.of(other) : 0.0;
    if (value >= least) {
      found.emplace_back(value, other);
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a > b; });
  std::vector<std::string> nearest;
  for (std::size_t k = 0; k < found.size() && k < most; ++k) {
    nearest.push_back(found[k].second);
  }
  return nearest;
}

inline std::string joined(const std::vector<std::string>& names, std::size_t count, std::string_view between) {
  std::string text;
  for (std::size_t k = 0; k < count; ++k) {
    text += (k == 0 ? std::string() : std::string(between)) + names[k];
  }
  return text;
}

}  // namespace detail

/// Return a sentence that names the known names nearest to a name, or all of them where none is near.
inline std::string nearest_names(std::string_view name, const std::vector<std::string>& known) {
  constexpr std::int64_t longest_name = 200;  // nothing is like a longer one, and to compare it would take long
  constexpr std::size_t most_shown = 100;
  std::vector<std::string> near;
  if (count_characters(name) <= longest_name) {
    near = detail::near_names(name, known);
  }
  if (!near.empty()) {
    for (std::string& one : near) {
      one = "'" + one + "'";
    }
    return "did you mean " + detail::joined(near, near.size(), " or ") + "?";
  }
  if (known.empty()) {
    return "none is known";
  }
  const std::string list = "known: " + detail::joined(known, std::min(known.size(), most_shown), ", ");
  return known.size() <= most_shown ? list : list + " and " + std::to_string(known.size() - most_shown) + " more";
}

}  // namespace dse
