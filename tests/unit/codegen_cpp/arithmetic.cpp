// Reads lines "OPERATION A B" and prints the result of each: the arithmetic of generated programs.
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <string>

#include "dse/numbers.hpp"
#include "dse/text.hpp"

namespace {

using namespace dse;

Big parsed(const std::string& text) {
  Big value;
  for (const char digit : text) {
    if (digit != '-') {
      value = value * Big(10) + Big(digit - '0');
    }
  }
  return text[0] == '-' ? -value : value;
}

std::string real_text(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%a", value);
  return text;
}

/// Wrapped to one word, computed by the types of the machine where they hold the operands.
std::string shifted(const std::string& a, const std::string& b, bool left) {
  const i64 value = parsed(a).wrapped<i64>();
  const Big count = parsed(b);
  const i64 narrow = left ? static_cast<i64>(shift_left(static_cast<u64>(value), count.wrapped<i64>(), 32))
                          : shift_right(value, count.wrapped<i64>(), 32);
  const Big wide = left ? shift_left(Big(value), count, 32) : shift_right(Big(value), count, 32);
  return wide.wrapped<i64>() == narrow ? wide.text() : "the types differ";
}

using Operation = std::function<std::string(const std::string&, const std::string&)>;

const std::map<std::string, Operation> OPERATIONS = {
    {"+", [](auto& a, auto& b) { return (parsed(a) + parsed(b)).text(); }},
    {"-", [](auto& a, auto& b) { return (parsed(a) - parsed(b)).text(); }},
    {"*", [](auto& a, auto& b) { return (parsed(a) * parsed(b)).text(); }},
    {"/", [](auto& a, auto& b) { return quotient(parsed(a), parsed(b), 0).text(); }},
    {"mod", [](auto& a, auto& b) { return modulo(parsed(a), parsed(b), 0).text(); }},
    {"&", [](auto& a, auto& b) { return (parsed(a) & parsed(b)).text(); }},
    {"|", [](auto& a, auto& b) { return (parsed(a) | parsed(b)).text(); }},
    {"^", [](auto& a, auto& b) { return (parsed(a) ^ parsed(b)).text(); }},
    {"<", [](auto& a, auto& b) { return text_of(parsed(a) < parsed(b)); }},
    {"=", [](auto& a, auto& b) { return text_of(parsed(a) == parsed(b)); }},
    {"<<", [](auto& a, auto& b) { return shifted(a, b, true); }},
    {">>", [](auto& a, auto& b) { return shifted(a, b, false); }},
    {"~", [](auto& a, auto&) { return (~parsed(a)).text(); }},
    {"neg", [](auto& a, auto&) { return (-parsed(a)).text(); }},
    {"i64", [](auto& a, auto&) { return text_of(parsed(a).template wrapped<i64>()); }},
    {"u128", [](auto& a, auto&) { return text_of(parsed(a).template wrapped<u128>()); }},
    {"i192", [](auto& a, auto&) { return parsed(a).wrapped(192, true).text(); }},
    {"u200", [](auto& a, auto&) { return parsed(a).wrapped(200, false).text(); }},
    {"real", [](auto& a, auto&) { return real_text(parsed(a).real()); }},
    {"i128", [](auto& a, auto&) { return Big(parsed(a).template wrapped<i128>()).text(); }},
    {"truncated", [](auto& a, auto&) { return big_truncated(std::strtod(a.c_str(), nullptr), 0).text(); }},
    {"u8", [](auto& a, auto&) { return text_of(truncated<u8>(std::strtod(a.c_str(), nullptr), 0)); }},
    {"order", [](auto& a, auto& b) { return text_of(order(parsed(a), std::strtod(b.c_str(), nullptr)) < 0); }},
    {"f/", [](auto& a, auto& b) { return text_of(real_quotient(std::strtod(a.c_str(), nullptr), std::strtod(b.c_str(), nullptr))); }},
};

}  // namespace

int main() {
  std::string operation, a, b;
  while (std::cin >> operation >> a >> b) {
    try {
      std::cout << OPERATIONS.at(operation)(a, b) << '\n';
    } catch (const Fault& fault) {
      std::cout << fault.what() << '\n';
    }
  }
}
