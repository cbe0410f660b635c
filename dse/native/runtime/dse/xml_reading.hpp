// Liberal reading of elements and attributes: the tools of the field disagree in letter case and spelling. What is
// wrong is gathered with its place, and the reader goes on. Rules and messages are those of dse/formats/xml_reading.py.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dse/errors.hpp"
#include "dse/nearest.hpp"
#include "dse/number_text.hpp"
#include "dse/xml.hpp"

namespace dse::xml {

/// Return a text with its ASCII letters in lower case.
inline std::string lowered(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return result;
}

/// The name of an attribute that is asked for: without namespace in any letter case, or with one exactly.
struct Key {
  std::string_view name;
  std::string_view space = {};
};

/// Read one document; errors are gathered until `finish`.
class Reader {
 public:
  explicit Reader(const Document& document) : document_(document) {}

  const Element& root() const { return document_.root(); }

  /// Return the child elements whose local name is one of `tags`, in any letter case.
  std::vector<const Element*> children(const Element& element, std::initializer_list<std::string_view> tags) const {
    std::vector<const Element*> found;
    for (const auto& child : element.children) {
      const std::string tag = lowered(child->name);
      for (const std::string_view wanted : tags) {
        if (tag == wanted) {
          found.push_back(child.get());
        }
      }
    }
    return found;
  }

  /// Return an attribute, or null where it is not there.
  const Attribute* attribute(const Element& element, Key key) const {
    for (const Attribute& one : element.attributes) {
      const bool same = key.space.empty() ? one.space.empty() && lowered(one.name) == key.name
                                          : one.space == key.space && one.name == key.name;
      if (same) {
        return &one;
      }
    }
    return nullptr;
  }

  /// Return the value of an attribute, "" where it is not there.
  std::string text(const Element& element, Key key) const {
    const Attribute* found = attribute(element, key);
    return found == nullptr ? "" : found->value;
  }

  /// Return an attribute that must be there and not be empty; that it is not is an error.
  const std::string* required(const Element& element, Key key) {
    const Attribute* found = attribute(element, key);
    if (found != nullptr && !found->value.empty()) {
      return &found->value;
    }
    const std::string name(key.name), &tag = element.name;
    const std::string problem = found == nullptr ? "'" + tag + "' has no '" + name + "'"
                                                 : "the attribute '" + name + "' of '" + tag + "' is empty";
    error(problem, element, "expected '<" + tag + " " + name + "=\"...\"'");
    return nullptr;
  }

  /// Return an integer from 1 to `most_tokens`, also written as 512.0; nothing where it is missing or wrong.
  std::optional<std::int64_t> count(const Element& element, Key key) {
    const Attribute* found = attribute(element, key);
    if (found == nullptr) {
      return std::nullopt;
    }
    const std::optional<Decimal> number = parse_decimal(found->value);
    const bool is_integer = number && number->is_integer();
    const std::int64_t value = is_integer ? clamped(*number) : 0;
    if (is_integer && value >= 1 && value <= most_tokens) {
      return value;
    }
    const std::string most = value > most_tokens ? " and at most " + std::to_string(most_tokens) : "";
    error_at(std::string(key.name) + " of '" + element.name + "' is '" + shortened(found->value) + "'", *found,
             "expected an integer of at least 1" + most);
    return std::nullopt;
  }

  /// Check that an attribute, where it is there, is one of some words, in any letter case.
  void check_choice(const Element& element, Key key, const std::vector<std::string>& known) {
    const Attribute* found = attribute(element, key);
    if (found == nullptr) {
      return;
    }
    const std::string value = lowered(stripped(found->value));
    for (const std::string& word : known) {
      if (value == lowered(word)) {
        return;
      }
    }
    const std::string what = "unknown " + std::string(key.name) + " '" + shortened(found->value) + "' of '";
    error_at(what + element.name + "'", *found, nearest_names(found->value, known));
  }

  /// Record an error at an element, or at one of its attributes if it has that.
  void error(std::string message, const Element& element, std::string expected, Key key = {}) {
    const Attribute* found = key.name.empty() ? nullptr : attribute(element, key);
    const Place place = found == nullptr ? document_.place(element) : document_.place(*found);
    found_.push_back({std::move(message), place, std::move(expected)});
  }

  /// Return the line of an element, or of one of its attributes.
  std::int64_t line(const Element& element) const { return document_.place(element).line; }

  /// Throw ConfigError with all errors so far, if there are any.
  void finish() const { raise_errors(found_); }

 private:
  void error_at(std::string message, const Attribute& attribute, std::string expected) {
    found_.push_back({std::move(message), document_.place(attribute), std::move(expected)});
  }

  const Document& document_;
  std::vector<Diagnostic> found_;
};

}  // namespace dse::xml
