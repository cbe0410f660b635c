// The command line of a program: the options of `dse run`, with the same bounds and messages, and those that only a
// program has. One table holds them all; --help is made of it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dse/errors.hpp"
#include "dse/nearest.hpp"
#include "dse/number_text.hpp"
#include "dse/run_types.hpp"

namespace dse {

/// All that the command line says.
struct ProgramOptions {
  RunOptions run;
  std::optional<std::string> mapping;    // .xcf
  std::optional<std::string> buffers;    // .bxdf
  std::optional<std::string> trace;      // file for the firings
  std::optional<std::string> result;     // file for what the run did
  std::optional<std::string> home;       // folder of the network
  std::optional<std::string> singly;     // file of the actions that a program built for a profile times one by one
  std::optional<int> progress;           // file descriptor that hears of the firings
  bool only_ping_pong = false;  // nothing else is asked for: measure, and run nothing
  std::vector<const char*> of_gpu;  // what was given that says something of a GPU only
  bool host_fifos = false;  // asked for by name
  bool show_mapping = false;
  bool why = false;
  bool quiet = false;
  bool help = false;
  bool version = false;
};

/// A value of the command line that makes no sense. Throws.
[[noreturn]] inline void refuse_option(const std::string& message, const std::string& expected = "") {
  throw ConfigError({message, {}, expected});
}

/// One option as it was given.
struct GivenOption {
  std::string names;  // such as -s/--fifo-size
  std::string value;

  std::int64_t integer() const {
    const std::optional<std::int64_t> number = integer_from(value, -most_counted, most_counted);
    if (number) {
      return *number;
    }
    const std::string_view bare = stripped(value);
    const std::size_t first = bare.find_first_not_of("+-");
    const bool digits = first != bare.npos && is_digits(bare.substr(first));
    const std::string problem = digits ? shortened(value) + " is beyond measure: expected at most " +
                                             std::to_string(most_counted)
                                       : "invalid int value: '" + shortened(value) + "'";
    refuse_option("argument " + names + ": " + problem);
  }

  /// Return an integer that must be at least 1; `what` says of what.
  std::int64_t count(const char* what) const {
    const std::int64_t number = integer();
    if (number < 1) {
      refuse_option("the " + std::string(what) + " is " + std::to_string(number) + ", must be at least 1");
    }
    return number;
  }

  /// Return an integer from 1 to `most`.
  int up_to(std::int64_t most, const char* what) const {
    const std::int64_t number = count(what);
    if (number > most) {
      refuse_option("the " + std::string(what) + " is " + std::to_string(number) + ", must be at most " +
                    std::to_string(most));
    }
    return static_cast<int>(number);
  }
};

inline constexpr std::int64_t most_gpu_blocks = 1024;   // of a kernel
inline constexpr std::int64_t most_gpu_threads = 1023;  // of a block on any card, without its leader
inline constexpr std::int64_t most_visits_apart = 1 << 20;  // that are noted

namespace detail {

/// Return the bytes of 500M or 4G, units of 1024, or of a number alone.
inline std::int64_t memory_bytes(std::string_view text) {
  const auto refuse = [&] {
    refuse_option("memory '" + std::string(text) + "' is not understood", "a whole number and its unit: 500M, 4G");
  };
  std::string_view rest = stripped(text);
  std::string_view digits = take_digits(rest);
  rest = stripped(rest);
  std::string unit(rest);
  for (char& c : unit) {
    c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  if (unit.size() > 1 && (unit.substr(1) == "B" || unit.substr(1) == "IB")) {
    unit.resize(1);
  }
  const std::size_t shift = unit.empty() ? 0 : std::string_view("KMGT").find(unit);
  const std::size_t most_digits = unit.empty() ? 18 : 9;
  const std::optional<std::int64_t> number = integer_from(digits, 1, most_counted);
  if (unit.size() > 1 || shift == std::string_view::npos || !number || digits.size() > most_digits) {
    refuse();
  }
  return unit.empty() ? *number : *number << (10 * (shift + 1));
}

/// Return the numbers of cores of A,B or A,B,C,D.
inline std::vector<int> core_pairs(std::string_view text) {
  constexpr std::int64_t most_cores = 1024;
  std::vector<int> cores;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::optional<std::int64_t> core = integer_from(text.substr(begin, end - begin), 0, most_cores - 1);
    if (!core) {
      refuse_option("cores '" + shortened(text) + "' are not understood", "numbers from 0 to 1023, two by two: 0,1");
    }
    cores.push_back(static_cast<int>(*core));
    begin = end + 1;
  }
  if (cores.size() % 2 != 0) {
    refuse_option("cores '" + shortened(text) + "' are no pairs", "numbers two by two: 0,1 or 0,1,0,2");
  }
  return cores;
}

}  // namespace detail

/// An option of the table. Without `value` it is a switch.
struct OptionInfo {
  const char* group;
  char letter;  // 0: none
  const char* name;
  const char* value;
  const char* help;
  void (*take)(ProgramOptions& options, const GivenOption& given);

  std::string names() const { return (letter != 0 ? std::string("-") + letter + "/" : "") + name; }

  /// Whether the value is that of a file, folder or name, which must not be empty, as a variable that is not set is.
  bool takes_name() const {
    const std::string_view kind = value;
    return kind == "FILE" || kind == "DIR" || kind == "NAME";
  }
};

/// Note an option that says something of a GPU only, once; or that a later one took it back.
inline void note_of_gpu(ProgramOptions& options, const char* name, bool given = true) {
  std::erase_if(options.of_gpu, [name](const char* one) { return std::string_view(one) == name; });
  if (given) {
    options.of_gpu.push_back(name);
  }
}

/// Return the table of all options.
inline const std::vector<OptionInfo>& option_table() {
  using Options = ProgramOptions;
  using Given = GivenOption;
  static const std::vector<OptionInfo> table = {
      {"files", 'i', "--input", "FILE", "input, or a folder of inputs",
       [](Options& o, const Given& g) { o.run.input = g.value; }},
      {"files", 'o', "--output", "FILE", "pictures (.yuv .png .pgm .ppm), or what a sink writes",
       [](Options& o, const Given& g) { o.run.output = g.value; }},
      {"files", 'w', "--write", "FILE", "what a writer writes (default: as -o)",
       [](Options& o, const Given& g) { o.run.write = g.value; }},
      {"files", 'y', "--reference", "FILE", "planar pictures or bytes that the output must equal",
       [](Options& o, const Given& g) { o.run.reference = g.value; }},
      {"files", 0, "--tolerance", "N", "difference of a sample that is accepted",
       [](Options& o, const Given& g) {
         o.run.tolerance = static_cast<int>(std::clamp<std::int64_t>(g.integer(), INT32_MIN, INT32_MAX));
       }},
      {"files", 0, "--files", "DIR",
       "folder for files that the program itself names and writes (default: dse-out/NETWORK/files)",
       [](Options& o, const Given& g) { o.run.files = g.value; }},
      {"files", 0, "--allow-files", "DIR",
       "folder below which the program may read and write any file; may be repeated",
       [](Options& o, const Given& g) { o.run.allow_files.push_back(g.value); }},
      {"files", 0, "--home", "DIR", "folder from which relative names of files count that the network has in it",
       [](Options& o, const Given& g) { o.home = g.value; }},
      {"files", 0, "--unnamed-output", "NAME", "name below the folder of --files for a writer without -o and -w",
       [](Options& o, const Given& g) { o.run.unnamed_output = g.value; }},
      {"files", 0, "--console-line", "TEXT", "line that a console reads; may be repeated",
       [](Options& o, const Given& g) { o.run.console_input.push_back(g.value); }},

      {"the run of the network", 'l', "--loops", "N",
       "times the input is read, where the source of the network asks for it (default 1)",
       [](Options& o, const Given& g) { o.run.loops = g.count("number of loops"); }},
      {"the run of the network", 'f', "--frames", "N", "stop after N pictures",
       [](Options& o, const Given& g) { o.run.frames = g.count("number of frames"); }},
      {"the run of the network", 0, "--max-firings", "N", "stop after N firings",
       [](Options& o, const Given& g) { o.run.max_firings = g.count("number of firings"); }},
      {"the run of the network", 0, "--idle-firings", "N",
       "stop after N firings in a row without one token moving (default 100000)",
       [](Options& o, const Given& g) { o.run.idle_firings = g.count("number of idle firings"); }},
      {"the run of the network", 0, "--max-memory", "SIZE",
       "memory that the run may take, such as 500M or 4G (default: four fifths of what is free)",
       [](Options& o, const Given& g) { o.run.max_memory_bytes = detail::memory_bytes(g.value); }},
      {"the run of the network", 's', "--fifo-size", "N", "FIFO capacity in tokens (default 512)",
       [](Options& o, const Given& g) { o.run.fifo_tokens = std::min(g.count("FIFO size"), most_tokens); }},

      {"the mapping", 0, "--mapping", "FILE", "partitions, policies and FIFO sizes (.xcf); default: all on one thread",
       [](Options& o, const Given& g) { o.mapping = g.value; }},
      {"the mapping", 0, "--buffers", "FILE", "FIFO sizes (.bxdf), in place of those of the mapping",
       [](Options& o, const Given& g) { o.buffers = g.value; }},
      {"the mapping", 0, "--pin", "", "keep each thread on a core of its own",
       [](Options& o, const Given&) { o.run.pin = true; }},
      {"the mapping", 0, "--no-pin", "", "let the system choose the cores (default)",
       [](Options& o, const Given&) { o.run.pin = false; }},
      {"the mapping", 0, "--fifos", "KIND",
       "FIFOs between actors on a GPU: host, which could cross (default), special, in its memory; or pinned: all are "
       "host, even between processors",
       [](Options& o, const Given& g) {
         if (g.value != "host" && g.value != "special" && g.value != "pinned") {
           refuse_option("there are no FIFOs '" + shortened(g.value) + "'", "host, special or pinned");
         }
         o.host_fifos = g.value == "host";
         o.run.special_fifos = g.value == "special";
         note_of_gpu(o, "--fifos special", o.run.special_fifos);
         o.run.pinned_fifos = g.value == "pinned";
       }},
      {"the mapping", 0, "--gpu-blocks", "N",
       "blocks of threads for an actor on a GPU that can fire several times at once (default 1)",
       [](Options& o, const Given& g) {
         o.run.gpu_blocks = g.up_to(most_gpu_blocks, "number of blocks on a GPU");
         note_of_gpu(o, "--gpu-blocks");
       }},
      {"the mapping", 0, "--gpu-threads", "N", "threads of each such block that fire (default 32); 1 and one block: none",
       [](Options& o, const Given& g) {
         o.run.gpu_threads = g.up_to(most_gpu_threads, "number of threads of a block");
         note_of_gpu(o, "--gpu-threads");
       }},
      {"the mapping", 0, "--show-mapping", "", "print the mapping as it was understood, as JSON, and run nothing",
       [](Options& o, const Given&) { o.show_mapping = true; }},

      {"what is told", 0, "--trace", "FILE", "write the firings of each actor",
       [](Options& o, const Given& g) { o.trace = g.value; }},
      {"what is told", 0, "--result", "FILE", "write what the run did, as JSON",
       [](Options& o, const Given& g) { o.result = g.value; }},
      {"what is told", 0, "--hashes", "", "hash the tokens of each connection",
       [](Options& o, const Given&) { o.run.hash_channels = true; }},
      {"what is told", 0, "--raw", "FILE", "write the times of visits (programs that dse profile builds)",
       [](Options& o, const Given& g) { o.run.raw = g.value; }},
      {"what is told", 0, "--raw-every", "N",
       "note one visit of so many, at random, and time none in vain (programs that dse profile builds; default 1: all)",
       [](Options& o, const Given& g) {
         o.run.raw_every = static_cast<std::uint64_t>(g.up_to(most_visits_apart, "number of visits"));
       }},
      {"what is told", 0, "--singly", "FILE",
       "actions whose firings are timed one by one, a line each: ACTOR ACTION, numbers (programs of dse profile)",
       [](Options& o, const Given& g) { o.singly = g.value; }},
      {"what is told", 0, "--ping-pong", "A,B[,A,B]",
       "measure the round trip of a cache line between cores, before and after a run; alone: run nothing",
       [](Options& o, const Given& g) { o.run.ping_pong_cores = detail::core_pairs(g.value); }},
      {"what is told", 0, "--progress", "FD", "write the firings so far to this file descriptor, now and then",
       [](Options& o, const Given& g) {
         o.progress = static_cast<int>(std::clamp<std::int64_t>(g.integer(), -1, INT32_MAX));
       }},
      {"what is told", 0, "--why", "", "say what each actor waits for at the end",
       [](Options& o, const Given&) { o.why = true; }},
      {"what is told", 0, "--quiet", "", "print results and errors only",
       [](Options& o, const Given&) { o.quiet = true; }},
      {"what is told", 'h', "--help", "", "show this help", [](Options& o, const Given&) { o.help = true; }},
      {"what is told", 0, "--version", "", "show the version", [](Options& o, const Given&) { o.version = true; }},
  };
  return table;
}

namespace detail {

/// Walks over the arguments of a command line.
class ArgumentReader {
 public:
  explicit ArgumentReader(std::vector<std::string> arguments) : arguments_(std::move(arguments)) {}

  ProgramOptions options() {
    ProgramOptions options;
    while (next_ < arguments_.size()) {
      const std::string& argument = arguments_[next_++];
      const OptionInfo& option = option_of(argument);
      options_now_ = option.names();
      const std::string value = value_of(option, argument);
      if (option.takes_name() && stripped(value).empty()) {
        refuse_option("what follows '" + std::string(option.name) + "' is empty",
                      "give a name or a value, or leave out both");
      }
      option.take(options, {options_now_, value});
      ++given_;
    }
    options.only_ping_pong = given_ == 1 && !options.run.ping_pong_cores.empty();
    return options;
  }

 private:
  /// Return the option that an argument names: --name, --name=value, -n, or -nvalue.
  const OptionInfo& option_of(const std::string& argument) const {
    const std::string name = argument.substr(0, argument.find('='));
    for (const OptionInfo& option : option_table()) {
      const bool by_letter = option.letter != 0 && argument.size() > 1 && argument[0] == '-' &&
                             argument[1] == option.letter && (option.value[0] != '\0' || argument.size() == 2);
      if (name == option.name || by_letter) {
        return option;
      }
    }
    std::vector<std::string> known;
    for (const OptionInfo& option : option_table()) {
      known.emplace_back(option.name);
    }
    const std::vector<std::string> near = near_names(name, known);
    const std::string what = argument.starts_with("-") ? "there is no option '" : "there is no use for '";
    refuse_option(what + shortened(argument) + "'",
                  near.empty() ? "--help lists the options" : "did you mean '" + near.front() + "'?");
  }

  std::string value_of(const OptionInfo& option, const std::string& argument) {
    const bool is_long = argument.starts_with("--");
    const std::size_t equals = is_long ? argument.find('=') : argument.size() > 2 ? 1 : argument.npos;
    if (option.value[0] == '\0') {
      if (equals != argument.npos) {
        refuse_option("argument " + options_now_ + ": takes no value");
      }
      return "";
    }
    if (equals != argument.npos) {
      const bool doubled = !is_long && argument[2] == '=';
      return argument.substr(equals + (doubled ? 2 : 1));
    }
    if (next_ == arguments_.size() || looks_like_option(arguments_[next_])) {
      refuse_option("argument " + options_now_ + ": expected one argument",
                    std::string("give it as ") + option.name + "=" + option.value);
    }
    return arguments_[next_++];
  }

  /// Return whether an argument is an option rather than a value; a negative number is a value.
  static bool looks_like_option(const std::string& argument) {
    return argument.size() > 1 && argument[0] == '-' && !parse_decimal(argument);
  }

  std::vector<std::string> arguments_;
  std::size_t next_ = 0;
  int given_ = 0;
  std::string options_now_;
};

}  // namespace detail

/// Return what a command line asks for, without the name of the program. Throws ConfigError.
inline ProgramOptions read_options(std::vector<std::string> arguments) {
  return detail::ArgumentReader(std::move(arguments)).options();
}

/// Return the text of --help.
inline std::string help_text(const std::string& program, const std::string& network) {
  constexpr std::size_t indent = 26;
  std::string text = "usage: " + program + " [options]\n\nRun network " + network + ".\n";
  std::string_view group;
  for (const OptionInfo& option : option_table()) {
    if (group != option.group) {
      group = option.group;
      text += "\n" + std::string(group) + ":\n";
    }
    const std::string letter = option.letter != 0 ? std::string("-") + option.letter + ", " : "";
    std::string line = "  " + letter + option.name + (option.value[0] != '\0' ? " " : "") + option.value;
    line += line.size() + 2 > indent ? "\n" + std::string(indent, ' ') : std::string(indent - line.size(), ' ');
    text += line + option.help + "\n";
  }
  text += "\nexit codes: 0 done, 1 the run or the comparison failed, 2 wrong usage or mapping, 3 deadlock\n";
  return text + "example: " + program + " -i INPUT -o OUTPUT --mapping BEST.xcf\n";
}

}  // namespace dse
