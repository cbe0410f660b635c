// Runs a script of calls of natives and tells what each gave. Fields of a line are separated by blanks; texts are hex.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include "dse/context.hpp"
#include "dse/errors.hpp"
#include "dse/numbers.hpp"
#include "dse/run_types.hpp"

namespace driver {

using Words = std::vector<std::string>;

inline std::string from_hex(const std::string& text) {
  std::string result;
  for (std::size_t k = 1; k + 1 < text.size(); k += 2) {
    result += static_cast<char>(std::stoi(text.substr(k, 2), nullptr, 16));
  }
  return result;
}

inline std::string to_hex(const std::string& text) {
  std::string result = "x";
  for (const char c : text) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(c));
    result += digits;
  }
  return result;
}

/// A list of a script; the elements are given as numbers.
struct AnyList {
  std::string kind;
  std::vector<std::int64_t> sizes;
  std::size_t count = 1;
  std::vector<std::uint8_t> u8;
  std::vector<std::int32_t> i32;
  std::vector<std::uint64_t> u64;
  std::unique_ptr<bool[]> flags;
  std::vector<float> f32;
  std::vector<double> f64;

  template <class T>
  T* data() {
    if constexpr (std::is_same_v<T, std::uint8_t>) return u8.data();
    if constexpr (std::is_same_v<T, std::int32_t>) return i32.data();
    if constexpr (std::is_same_v<T, std::uint64_t>) return u64.data();
    if constexpr (std::is_same_v<T, bool>) return flags.get();
    if constexpr (std::is_same_v<T, float>) return f32.data();
    if constexpr (std::is_same_v<T, double>) return f64.data();
  }

  template <class T, int D>
  dse::View<T, D> view() {
    dse::View<T, D> result{data<T>(), {}};
    for (int k = 0; k < D; ++k) result.sizes[static_cast<std::size_t>(k)] = sizes[static_cast<std::size_t>(k)];
    return result;
  }

  void allocate() {
    for (const std::int64_t size : sizes) count *= static_cast<std::size_t>(size);
    if (kind == "u8") u8.resize(count);
    if (kind == "i32") i32.resize(count);
    if (kind == "u64") u64.resize(count);
    if (kind == "bool") flags = std::make_unique<bool[]>(count);
    if (kind == "f32") f32.resize(count);
    if (kind == "f64") f64.resize(count);
  }

  void set(std::size_t k, const std::string& text) {
    if (kind == "u8") u8[k] = static_cast<std::uint8_t>(std::stoul(text));
    if (kind == "i32") i32[k] = std::stoi(text);
    if (kind == "u64") u64[k] = std::stoull(text);
    if (kind == "bool") flags[k] = text == "1";
    if (kind == "f32") f32[k] = std::stof(text);
    if (kind == "f64") f64[k] = std::stod(text);
  }

  std::string element(std::size_t k) const {
    if (kind == "u8") return std::to_string(u8[k]);
    if (kind == "i32") return std::to_string(i32[k]);
    if (kind == "u64") return std::to_string(u64[k]);
    if (kind == "bool") return flags[k] ? "1" : "0";
    char text[64];
    std::snprintf(text, sizeof text, "%a", kind == "f32" ? static_cast<double>(f32[k]) : f64[k]);
    return text;
  }
};

using Lists = std::map<std::string, AnyList>;

inline std::int64_t integer(const std::string& text) { return std::stoll(text); }

/// Says what a call gave.
template <class Result>
std::string told(const Result& value) {
  if constexpr (std::is_same_v<Result, bool>) return value ? "bool 1" : "bool 0";
  else if constexpr (std::is_integral_v<Result>) return "int " + std::to_string(value);
  else if constexpr (std::is_floating_point_v<Result>) {
    char text[64];
    std::snprintf(text, sizeof text, "float %a", static_cast<double>(value));
    return text;
  } else return "text " + to_hex(value);
}

inline std::string failure(const std::string& kind, const std::string& message, const std::string& expected) {
  return kind + " " + to_hex(message) + " " + to_hex(expected);
}

inline std::string config_failure(const dse::ConfigError& error) {
  const dse::Diagnostic& first = error.diagnostics().front();
  return failure("error" + std::to_string(error.exit_code()), first.message, first.expected);
}

inline std::string guarded(const std::function<std::string()>& call) {
  try {
    return call();
  } catch (const dse::Fault& fault) {
    return failure("fault", fault.what(), fault.expected);
  } catch (const dse::InputRefused& refused) {
    return failure("refused", refused.what(), refused.expected);
  } catch (const dse::RunError& error) {
    return failure("fault", error.what(), error.expected);
  } catch (const dse::ConfigError& error) {
    return config_failure(error);
  } catch (const dse::SourceExhausted&) {
    return "exhausted";
  } catch (const dse::ProgramExit& exit) {
    return "exit " + std::to_string(exit.exit_code) + " " + std::to_string(exit.frames);
  }
}

/// Calls a native by the number that the script gives; defined in the generated file.
std::string call(dse::Context& context, Lists& lists, const Words& words);

inline void set_option(dse::RunOptions& options, const Words& words) {
  const std::string& name = words[1];
  const std::string text = from_hex(words[2]);
  if (name == "input") options.input = text;
  if (name == "output") options.output = text;
  if (name == "write") options.write = text;
  if (name == "reference") options.reference = text;
  if (name == "tolerance") options.tolerance = std::stoi(text);
  if (name == "loops") options.loops = std::stoll(text);
  if (name == "frames") options.frames = std::stoll(text);
  if (name == "allow") options.allow_files.push_back(text);
  if (name == "unnamed") options.unnamed_output = text;
  if (name == "console") options.console_input.push_back(text);
}

inline void make_list(Lists& lists, const Words& words) {
  AnyList list;
  list.kind = words[2];
  for (std::size_t k = 3; k < words.size(); ++k) list.sizes.push_back(integer(words[k]));
  list.allocate();
  lists[words[1]] = std::move(list);
}

inline void set_list(Lists& lists, const Words& words) {
  for (std::size_t k = 2; k < words.size(); ++k) lists.at(words[1]).set(k - 2, words[k]);
}

inline std::string shown(const AnyList& list) {
  std::string text = "list";
  for (std::size_t k = 0; k < list.count; ++k) text += " " + list.element(k);
  return text;
}

inline void print_status(const dse::Context& context, const std::string& printed) {
  std::cout << "printed " << to_hex(printed) << "\n";
  for (const std::string& path : context.outputs()) std::cout << "output " << to_hex(path) << "\n";
  for (const std::string& path : context.files.access.read_files()) std::cout << "read " << to_hex(path) << "\n";
  for (const std::string& text : context.warnings()) std::cout << "warning " << to_hex(text) << "\n";
  std::cout << "frames " << context.screen.frames() << "\n";
  if (const auto found = context.screen.comparison()) {
    std::cout << "comparison " << found->compared << " " << found->equal << " " << found->max_difference << " "
              << found->missing << "\n";
  }
}

inline int run() {
  dse::RunOptions options;
  std::string home, files, printed, line;
  std::unique_ptr<dse::Context> context;
  Lists lists;
  while (std::getline(std::cin, line)) {
    std::istringstream stream(line);
    Words words;
    for (std::string word; stream >> word;) words.push_back(word);
    if (words[0] == "option") set_option(options, words);
    if (words[0] == "home") home = from_hex(words[1]);
    if (words[0] == "files") files = from_hex(words[1]);
    if (words[0] == "list") make_list(lists, words);
    if (words[0] == "set") set_list(lists, words);
    if (words[0] == "show") std::cout << shown(lists.at(words[1])) << "\n";
    if (words[0] == "compares") context->screen.compares_itself = true;
    if (words[0] == "start") {
      const std::string made = guarded([&] {
        context = std::make_unique<dse::Context>(options, home, files, [&](std::string_view text) { printed += text; });
        return std::string("started");
      });
      std::cout << made << "\n";
      if (!context) return 0;
    }
    if (words[0] == "call") std::cout << guarded([&] { return call(*context, lists, words); }) << "\n";
  }
  std::cout << guarded([&] {
    context->close();
    return std::string("closed");
  }) << "\n";
  print_status(*context, printed);
  std::cout << guarded([&] {
    context->check_input();
    return std::string("checked");
  }) << "\n";
  return 0;
}

}  // namespace driver
