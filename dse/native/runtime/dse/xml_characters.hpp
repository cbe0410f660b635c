// Which characters XML 1.0 (fifth edition) allows where.
#pragma once

#include <array>
#include <string_view>

#include "dse/characters.hpp"

namespace dse::xml {

inline constexpr std::array<CharacterRange, 5> anywhere = {
    {{0x9, 0xA}, {0xD, 0xD}, {0x20, 0xD7FF}, {0xE000, 0xFFFD}, {0x10000, 0x10FFFF}}};

/// The start of a name; a colon is one too, but separates the prefix of a namespace here.
inline constexpr std::array<CharacterRange, 15> name_start = {{{'A', 'Z'},
                                                               {'_', '_'},
                                                               {'a', 'z'},
                                                               {0xC0, 0xD6},
                                                               {0xD8, 0xF6},
                                                               {0xF8, 0x2FF},
                                                               {0x370, 0x37D},
                                                               {0x37F, 0x1FFF},
                                                               {0x200C, 0x200D},
                                                               {0x2070, 0x218F},
                                                               {0x2C00, 0x2FEF},
                                                               {0x3001, 0xD7FF},
                                                               {0xF900, 0xFDCF},
                                                               {0xFDF0, 0xFFFD},
                                                               {0x10000, 0xEFFFF}}};

inline constexpr std::array<CharacterRange, 5> name_more = {
    {{'-', '.'}, {'0', '9'}, {0xB7, 0xB7}, {0x300, 0x36F}, {0x203F, 0x2040}}};

inline bool is_character(char32_t value) { return lies_in(anywhere, value); }
inline bool starts_name(char32_t value) { return lies_in(name_start, value); }
inline bool continues_name(char32_t value) { return starts_name(value) || lies_in(name_more, value); }
inline bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

inline std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace dse::xml
