// A small strict XML reader: elements, attributes, text, comments, CDATA, processing instructions, the five entities
// and references to characters, namespaces, UTF-8. What is not well-formed is refused with line and column, and so is
// what no mapping file needs and what could make a small file grow: a document type declaration, other encodings,
// nesting without end, files beyond most_bytes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dse/errors.hpp"
#include "dse/utf8.hpp"
#include "dse/xml_characters.hpp"

namespace dse::xml {

inline constexpr std::size_t most_bytes = std::size_t{64} << 20;
inline constexpr std::size_t most_depth = 256;
inline constexpr std::size_t most_attributes = 1000;  // of one element; each is compared with the others
inline constexpr std::string_view xml_space = "http://www.w3.org/XML/1998/namespace";
inline constexpr std::string_view xmlns_space = "http://www.w3.org/2000/xmlns/";

/// Offsets into the text of a document, in bytes; the end is exclusive.
struct Range {
  std::size_t begin;
  std::size_t end;
};

struct Attribute {
  std::string space;  // the namespace, "" without prefix
  std::string name;   // without prefix
  std::string value;
  Range place;  // of the value, without its quotes
};

struct Element {
  std::string space;
  std::string name;
  std::vector<Attribute> attributes;  // without the declarations of namespaces
  std::vector<std::unique_ptr<Element>> children;
  std::string text;  // all characters that stand directly in the element
  Range place;       // of the start tag
};

/// Finds lines and columns of offsets.
class Lines {
 public:
  explicit Lines(std::string_view text) : text_(text), starts_{0} {
    for (std::size_t at = 0; at < text.size(); ++at) {
      const bool pair = text[at] == '\r' && at + 1 < text.size() && text[at + 1] == '\n';
      if ((text[at] == '\n' || text[at] == '\r') && !pair) starts_.push_back(at + 1);
    }
  }

  Place place(const std::string& path, Range range) const {
    const auto [line, column] = position(range.begin);
    const auto [end_line, end_column] = position(range.end);
    return {path, line, column, end_line, end_column};
  }

 private:
  std::pair<std::int64_t, std::int64_t> position(std::size_t offset) const {
    const auto after = std::upper_bound(starts_.begin(), starts_.end(), offset);
    const std::size_t start = *(after - 1);
    return {after - starts_.begin(), count_characters(text_.substr(start, offset - start)) + 1};
  }

  std::string_view text_;
  std::vector<std::size_t> starts_;
};

/// A document with its text, which the places of its elements refer to.
class Document {
 public:
  /// Throw ConfigError where the text is no well-formed document.
  Document(std::string path, std::string text);
  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;

  const Element& root() const { return *root_; }
  const std::string& path() const { return path_; }
  Place place(const Element& element) const { return lines_->place(path_, element.place); }
  Place place(const Attribute& attribute) const { return lines_->place(path_, attribute.place); }

 private:
  std::string path_;
  std::string text_;
  std::unique_ptr<Lines> lines_;
  std::unique_ptr<Element> root_;
};

namespace detail {

/// A name as it is written: with a prefix or without.
struct Name {
  std::string_view prefix;
  std::string_view local;
  Range place;
};

/// An attribute as it is written, before prefixes are resolved.
struct RawAttribute {
  Name name;
  std::string value;
  Range place;
};

struct Binding {
  std::string prefix;
  std::string space;
};

class Parser {
 public:
  Parser(const std::string& path, std::string_view text, const Lines& lines)
      : path_(path), text_(text), lines_(lines), bindings_{{"xml", std::string(xml_space)}} {}

  std::unique_ptr<Element> document() {
    check_characters();
    skip("\xEF\xBB\xBF");
    declaration();
    miscellaneous();
    if (at_ == text_.size() || text_[at_] != '<') fail("an element was expected", here());
    std::unique_ptr<Element> root = elements();
    miscellaneous();
    if (at_ < text_.size()) fail("there is something behind the end of the root element", here());
    return root;
  }

 private:
  // Errors

  [[noreturn]] void fail(const std::string& message, Range range, const std::string& expected = "") const {
    std::string advice = expected;
    const std::string_view rest = text_.substr(std::min(range.begin, text_.size()));
    if (advice.empty() && trimmed(rest).empty()) advice = "the file ends here: is it cut off?";
    throw ConfigError({"not well-formed XML: " + message, lines_.place(path_, range), advice});
  }

  [[noreturn]] void refuse(const std::string& message, Range range, const std::string& expected) const {
    throw ConfigError({message, lines_.place(path_, range), expected});
  }

  Range here() const { return {at_, at_}; }

  // Characters

  void check_characters() const {
    for (std::size_t at = 0; at < text_.size();) {
      const CodePoint point = code_point_at(text_, at);
      const Range range{at, at + point.bytes};
      if (point.value == invalid_byte) {
        refuse("this is no UTF-8", range, "save the file in UTF-8: mapping files in other encodings are not read");
      }
      if (!is_character(point.value)) {
        fail("there is a character that no XML document may hold", range, "remove it");
      }
      at += point.bytes;
    }
  }

  bool ends() const { return at_ >= text_.size(); }
  bool sees(std::string_view what) const { return text_.substr(at_, what.size()) == what; }

  bool skip(std::string_view what) {
    if (!sees(what)) return false;
    at_ += what.size();
    return true;
  }

  bool skip_blanks() {
    const std::size_t before = at_;
    while (!ends() && is_blank(text_[at_])) ++at_;
    return at_ > before;
  }

  void expect(std::string_view what, const std::string& where) {
    if (!skip(what)) fail("'" + std::string(what) + "' was expected " + where, here());
  }

  /// Return what stands before a mark, and goes behind the mark.
  std::string_view until(std::string_view mark, const std::string& what, std::size_t from) {
    const std::size_t end = text_.find(mark, at_);
    if (end == text_.npos) fail(what + " has no end", {from, from}, "expected '" + std::string(mark) + "'");
    const std::string_view inside = text_.substr(at_, end - at_);
    at_ = end + mark.size();
    return inside;
  }

  // Names

  std::string_view simple_name() {
    const std::size_t begin = at_;
    while (!ends()) {
      const CodePoint point = code_point_at(text_, at_);
      if (!(at_ == begin ? starts_name(point.value) : continues_name(point.value))) break;
      at_ += point.bytes;
    }
    if (at_ == begin) fail("a name was expected", here());
    return text_.substr(begin, at_ - begin);
  }

  Name name() {
    const std::size_t begin = at_;
    std::string_view local = simple_name(), prefix;
    if (skip(":")) {
      prefix = local;
      local = simple_name();
    }
    if (!ends() && text_[at_] == ':') fail("a name has two colons", here());
    return {prefix, local, {begin, at_}};
  }

  // What stands before, between and behind elements

  /// Read <?xml ...?>, which may be missing.
  void declaration() {
    if (!sees("<?xml") || at_ + 5 >= text_.size() || !is_blank(text_[at_ + 5])) return;
    const std::size_t begin = at_;
    at_ += 5;
    const std::vector<RawAttribute> found = declared();
    expect("?>", "at the end of the XML declaration");
    static constexpr std::string_view order[] = {"version", "encoding", "standalone"};
    std::size_t next = 0;
    for (const RawAttribute& one : found) {
      while (next < std::size(order) && order[next] != one.name.local) ++next;
      if (next == std::size(order) || !one.name.prefix.empty() || (&one == &found.front() && next > 0)) {
        fail("the XML declaration is wrong here", one.name.place,
             "expected '<?xml version=\"1.0\" encoding=\"UTF-8\"?>'");
      }
      check_declared(one);
      ++next;
    }
    if (found.empty()) fail("the XML declaration has no version", {begin, at_});
  }

  std::vector<RawAttribute> declared() {
    std::vector<RawAttribute> found;
    while (skip_blanks() && !sees("?>")) found.push_back(raw_attribute());
    return found;
  }

  void check_declared(const RawAttribute& one) const {
    if (one.name.local == "version") {
      const bool known = one.value.starts_with("1.") && one.value.find_first_not_of("0123456789", 2) == one.value.npos;
      if (!known) fail("the version of XML is not known", one.place, "expected 1.0");
    } else if (one.name.local == "encoding") {
      std::string lower = one.value;
      for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
      if (lower != "utf-8" && lower != "utf8") {
        refuse("the encoding is '" + shortened(one.value) + "'", one.place, "save the file in UTF-8");
      }
    } else if (one.value != "yes" && one.value != "no") {
      fail("'standalone' is neither 'yes' nor 'no'", one.place);
    }
  }

  /// Read comments, processing instructions and blanks.
  void miscellaneous() {
    for (;;) {
      skip_blanks();
      if (sees("<!DOCTYPE")) {
        refuse("a document type declaration is not read here", {at_, at_ + 9}, "remove it: mapping files need none");
      }
      if (!comment() && !instruction()) return;
    }
  }

  bool comment() {
    const std::size_t begin = at_;
    if (!skip("<!--")) return false;
    until("--", "a comment", begin);
    expect(">", "behind '--' in a comment");
    return true;
  }

  bool instruction() {
    const std::size_t begin = at_;
    if (!skip("<?")) return false;
    const std::string_view target = simple_name();
    if (!ends() && text_[at_] == ':') fail("the name of a processing instruction has a colon", here());
    if (is_xml(target)) fail("an XML declaration stands only at the start of a file", {begin, at_});
    if (!sees("?>") && !skip_blanks()) fail("a blank or '?>' was expected", here());
    until("?>", "a processing instruction", begin);
    return true;
  }

  static bool is_xml(std::string_view target) {
    return target.size() == 3 && (target[0] | 0x20) == 'x' && (target[1] | 0x20) == 'm' && (target[2] | 0x20) == 'l';
  }

  // References

  /// Read the reference at '&' and appends what it stands for.
  void reference(std::string& text) {
    const std::size_t begin = at_;
    expect("&", "here");
    if (skip("#")) {
      append_utf8(text, character_reference(begin));
      return;
    }
    const std::string_view entity = simple_name();
    expect(";", "behind a reference");
    static constexpr std::pair<std::string_view, char> entities[] = {
        {"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};
    for (const auto& [known, character] : entities) {
      if (entity == known) {
        text += character;
        return;
      }
    }
    fail("there is no entity '" + shortened(entity) + "'", {begin, at_}, "known: amp, lt, gt, quot, apos");
  }

  char32_t character_reference(std::size_t begin) {
    const bool hexadecimal = skip("x");
    const std::size_t first = at_;
    char32_t value = 0;
    for (; !ends() && digit(text_[at_], hexadecimal) >= 0; ++at_) {
      value = value * (hexadecimal ? 16 : 10) + static_cast<char32_t>(digit(text_[at_], hexadecimal));
      value = std::min<char32_t>(value, 0x110000);
    }
    if (at_ == first) fail("digits were expected in a reference to a character", here());
    expect(";", "behind a reference to a character");
    if (!is_character(value)) fail("a reference to a character that no XML document may hold", {begin, at_});
    return value;
  }

  static int digit(char c, bool hexadecimal) {
    if (c >= '0' && c <= '9') return c - '0';
    if (hexadecimal && c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (hexadecimal && c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
  }

  // Attributes

  RawAttribute raw_attribute() {
    const Name attribute = name();
    skip_blanks();
    expect("=", "behind the name of an attribute");
    skip_blanks();
    if (ends() || (text_[at_] != '"' && text_[at_] != '\'')) fail("a value in quotes was expected", here());
    const char quote = text_[at_++];
    const std::size_t begin = at_;
    std::string value;
    while (!ends() && text_[at_] != quote) attribute_character(value);
    if (ends()) fail("a value in quotes has no end", {begin - 1, begin});
    return {attribute, std::move(value), {begin, at_++}};
  }

  /// Read one character of a value: line ends and tabs become blanks, references what they stand for.
  void attribute_character(std::string& value) {
    if (text_[at_] == '<') fail("there is a '<' in the value of an attribute", here(), "write it as &lt;");
    if (text_[at_] == '&') {
      reference(value);
    } else if (is_blank(text_[at_])) {
      skip(sees("\r\n") ? "\r\n" : text_.substr(at_, 1));
      value += ' ';
    } else {
      value += text_[at_++];
    }
  }

  // Namespaces

  const std::string* space_of(std::string_view prefix) const {
    for (auto binding = bindings_.rbegin(); binding != bindings_.rend(); ++binding) {
      if (binding->prefix == prefix) return &binding->space;
    }
    return nullptr;
  }

  std::string resolved(const Name& name) const {
    const std::string* space = space_of(name.prefix);
    if (space == nullptr && !name.prefix.empty()) {
      fail("the prefix '" + shortened(name.prefix) + "' has no namespace", name.place);
    }
    return space == nullptr ? "" : *space;
  }

  static bool declares_space(const Name& name) {
    return name.prefix == "xmlns" || (name.prefix.empty() && name.local == "xmlns");
  }

  void declare_space(const RawAttribute& attribute) {
    const bool is_default = attribute.name.prefix.empty();
    const std::string_view prefix = is_default ? std::string_view() : attribute.name.local;
    const bool names_xml = attribute.value == xml_space;
    const bool wrong = (prefix == "xml") != names_xml || prefix == "xmlns" || attribute.value == xmlns_space ||
                       (!is_default && attribute.value.empty());
    if (wrong) fail("a namespace cannot be declared so", attribute.place);
    bindings_.push_back({std::string(prefix), attribute.value});
  }

  std::vector<Attribute> attributes_of(std::vector<RawAttribute>&& raw) {
    for (const RawAttribute& one : raw) {
      if (declares_space(one.name)) declare_space(one);
    }
    std::vector<Attribute> found;
    for (std::size_t k = 0; k < raw.size(); ++k) {
      RawAttribute& one = raw[k];
      std::string space = one.name.prefix.empty() || declares_space(one.name) ? "" : resolved(one.name);
      refuse_repeated(raw, k, found, space);
      if (!declares_space(one.name)) {
        found.push_back({std::move(space), std::string(one.name.local), std::move(one.value), one.place});
      }
    }
    return found;
  }

  /// Refuse attribute `k` where one before it has the same name, as it is written or by its namespace.
  void refuse_repeated(const std::vector<RawAttribute>& raw, std::size_t k, const std::vector<Attribute>& before,
                       const std::string& space) const {
    const Name& name = raw[k].name;
    const auto end = raw.begin() + static_cast<std::ptrdiff_t>(k);
    const bool written = std::any_of(raw.begin(), end, [&](const RawAttribute& other) {
      return other.name.prefix == name.prefix && other.name.local == name.local;
    });
    const bool meant = !declares_space(name) && std::any_of(before.begin(), before.end(), [&](const Attribute& other) {
      return other.space == space && other.name == name.local;
    });
    if (written || meant) fail("the attribute '" + shortened(name.local) + "' is given twice", name.place);
  }

  // Elements

  /// An element that is open, the name that closes it, and the namespaces known outside of it.
  struct Open {
    Element* element;
    std::string_view written;
    std::size_t bindings;
  };

  /// Read an element with all that is in it.
  std::unique_ptr<Element> elements() {
    std::unique_ptr<Element> root;
    do {
      if (open_.empty() || (sees("<") && !sees("</") && !sees("<!") && !sees("<?"))) {
        std::unique_ptr<Element>& place = open_.empty() ? root : open_.back().element->children.emplace_back();
        start_tag(place);
      } else {
        content();
      }
    } while (!open_.empty());
    return root;
  }

  void start_tag(std::unique_ptr<Element>& place) {
    const std::size_t begin = at_, known = bindings_.size();
    expect("<", "here");
    const Name tag = name();
    std::vector<RawAttribute> raw;
    while (skip_blanks() && !sees("/") && !sees(">")) {
      raw.push_back(raw_attribute());
      if (raw.size() > most_attributes) {
        refuse("an element has too many attributes", tag.place, "at most 1000 are read");
      }
    }
    const bool is_empty = skip("/");
    expect(">", "at the end of the tag '" + shortened(tag.local) + "'");
    place = std::make_unique<Element>();
    place->place = {begin, at_};
    place->attributes = attributes_of(std::move(raw));
    place->space = resolved(tag);
    place->name = tag.local;
    if (is_empty) {
      bindings_.resize(known);
      return;
    }
    open_.push_back({place.get(), text_.substr(tag.place.begin, tag.place.end - tag.place.begin), known});
    if (open_.size() > most_depth) refuse("elements are nested too deeply", tag.place, "at most 256 levels are read");
  }

  /// Read the next piece of what stands in the open element and is no element.
  void content() {
    if (ends()) {
      fail("the element '" + shortened(open_.back().written) + "' has no end", open_.back().element->place,
           "the file ends before it does: is it cut off?");
    }
    if (sees("</")) {
      end_tag();
    } else if (sees("<![CDATA[")) {
      const std::size_t begin = at_;
      at_ += 9;
      append_lines(open_.back().element->text, until("]]>", "a CDATA section", begin));
    } else if (sees("<")) {
      if (!comment() && !instruction()) fail("this markup may not stand here", {at_, at_ + 2});
    } else {
      text();
    }
  }

  void end_tag() {
    const std::size_t begin = at_;
    at_ += 2;
    const Name tag = name();
    const std::string_view written = text_.substr(tag.place.begin, tag.place.end - tag.place.begin);
    if (written != open_.back().written) {
      fail("the end of '" + shortened(open_.back().written) + "' was expected, not of '" + shortened(written) + "'",
           {begin, at_});
    }
    skip_blanks();
    expect(">", "at the end of the tag '" + shortened(written) + "'");
    bindings_.resize(open_.back().bindings);
    open_.pop_back();
  }

  void text() {
    std::string& text = open_.back().element->text;
    if (text_[at_] == '&') {
      reference(text);
      return;
    }
    const std::size_t end = std::min(text_.find_first_of("<&", at_), text_.size());
    const std::string_view piece = text_.substr(at_, end - at_);
    const std::size_t mark = piece.find("]]>");
    if (mark != piece.npos) fail("there is a ']]>' in the text", {at_ + mark, at_ + mark + 3}, "write it as ]]&gt;");
    append_lines(text, piece);
    at_ = end;
  }

  /// Append a text whose line ends are of any kind.
  static void append_lines(std::string& text, std::string_view piece) {
    for (std::size_t k = 0; k < piece.size(); ++k) {
      if (piece[k] != '\r') {
        text += piece[k];
      } else if (k + 1 == piece.size() || piece[k + 1] != '\n') {
        text += '\n';
      }
    }
  }

  const std::string& path_;
  std::string_view text_;
  const Lines& lines_;
  std::size_t at_ = 0;
  std::vector<Binding> bindings_;  // the last one of a prefix holds
  std::vector<Open> open_;
};

/// Refuse what is no XML at all, for a reason of its own.
inline void check_kind(const std::string& path, std::string_view text) {
  const auto refuse = [&](const char* message, const char* expected, std::int64_t line = 0) {
    throw ConfigError({message, Place{path, line, 1, line, 1}, expected});
  };
  const std::string_view mark = text.substr(0, 2);
  if (text.size() > most_bytes) refuse("the file has more than 64 MiB", "expected a mapping file");
  if (text.find_first_not_of(" \t\r\n\v\f") == text.npos) refuse("the file is empty", "expected an XML document");
  if (mark == "\xFE\xFF" || mark == "\xFF\xFE") refuse("the file is in UTF-16", "save it in UTF-8");
  if (text.find('\0') != text.npos) refuse("this is a binary file", "expected an XML document");
  const std::string_view body = text.substr(text.substr(0, 3) == "\xEF\xBB\xBF" ? 3 : 0);
  if (trimmed(body).substr(0, 1) != "<") refuse("this is not an XML document", "a document starts with '<'", 1);
}

}  // namespace detail

inline Document::Document(std::string path, std::string text) : path_(std::move(path)), text_(std::move(text)) {
  detail::check_kind(path_, text_);
  lines_ = std::make_unique<Lines>(text_);
  root_ = detail::Parser(path_, text_, *lines_).document();
}

}  // namespace dse::xml
