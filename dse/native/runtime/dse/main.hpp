// The body of `main` of a program. Exactly one file of a program includes this; it is the same for every network.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dse/bxdf.hpp"
#include "dse/counter.hpp"
#include "dse/crash.hpp"
#include "dse/engine.hpp"
#include "dse/files.hpp"
#include "dse/mapping_json.hpp"
#include "dse/memory.hpp"
#include "dse/options.hpp"
#include "dse/output.hpp"
#include "dse/singly.hpp"
#include "dse/summary.hpp"
#include "dse/surroundings.hpp"
#include "dse/tables.hpp"
#include "dse/trace_file.hpp"
#include "dse/work_report.hpp"
#include "dse/xcf.hpp"

namespace dse {

namespace detail {

/// Return the mapping of an XCF file; `path`: what it is called in messages.
inline Mapping mapping_of(const std::string& path, std::string text, const NetworkNames& names) {
  const xml::Document document(path, std::move(text));
  Mapping mapping = read_xcf(document, names);
  std::erase_if(mapping.partitions, [](const Partition& partition) { return partition.actors.empty(); });
  return mapping;
}

/// Return the partition of each actor.
inline std::vector<const Partition*> owners_of(const Mapping& mapping, std::size_t actors) {
  std::vector<const Partition*> owners(actors, nullptr);
  for (const Partition& partition : mapping.partitions) {
    for (const int actor : partition.actors) {
      owners[static_cast<std::size_t>(actor)] = &partition;
    }
  }
  return owners;
}

/// Refuse a mapping that is not the one that a program was built for; sizes of FIFOs may differ.
inline void require_fixed(const Mapping& given, const Mapping& fixed, const std::string& path, const NetworkNames& names) {
  const NetworkInfo& network = names.network();
  const auto refuse = [&](const std::string& why) {
    throw ConfigError({"this program was built for the mapping '" + shortened(network.mapping_name) + "' alone, and " +
                           why,
                       Place{path, 0, 0, 0, 0}, "leave out --mapping, or build it without --static"});
  };
  const std::size_t actors = network.actors.size();
  const std::vector<const Partition*> here = owners_of(given, actors);
  const std::vector<const Partition*> there = owners_of(fixed, actors);
  for (std::size_t k = 0; k != actors; ++k) {
    const std::string actor = "'" + names.actors()[k] + "'";
    if (here[k]->on_gpu != there[k]->on_gpu) {
      refuse(actor + " is on a " + (there[k]->on_gpu ? "GPU" : "CPU") + " there, on a " +
             (here[k]->on_gpu ? "GPU" : "CPU") + " here");
    }
  }
  for (std::size_t k = 0; k != actors; ++k) {
    const std::string actor = "'" + names.actors()[k] + "'";
    if (here[k]->actors != there[k]->actors || here[k]->order != there[k]->order) {
      refuse(actor + " is in a partition with other actors, or in another order");
    }
    if (here[k]->policy != there[k]->policy || here[k]->cores != there[k]->cores) {
      refuse("the partition of " + actor + " has another policy, or another number of cores");
    }
  }
}

/// Return what the options say of partitions and sizes. Throws ConfigError with all that is wrong.
inline Mapping chosen_mapping(const ProgramOptions& options, const NetworkNames& names) {
  Mapping mapping;
  const bool is_fixed = names.network().mapping != nullptr;
  if (is_fixed) {
    mapping = mapping_of(names.network().mapping_name, names.network().mapping, names);
  }
  if (options.mapping) {
    const Mapping given = mapping_of(*options.mapping, read_file(*options.mapping, xml::most_bytes + 1), names);
    if (is_fixed) {
      require_fixed(given, mapping, *options.mapping, names);
    }
    mapping = given;
  }
  if (options.buffers) {
    const xml::Document document(*options.buffers, read_file(*options.buffers, xml::most_bytes + 1));
    mapping.capacities = read_bxdf(document, names);
  }
  if (options.mapping || options.buffers || is_fixed) {
    fill_capacities(names.network(), options.run.fifo_tokens, mapping.capacities);
    check_capacities(names, mapping.capacities);
  }
  return mapping;
}

/// Refuse a reference that nothing can be compared with.
inline void check_reference(const std::string& path) {
  static constexpr std::pair<std::string_view, const char*> compressed[] = {
      {"\x89PNG", "PNG"}, {"\xFF\xD8\xFF", "JPEG"}, {"P5", "PGM"}, {"P6", "PPM"}};
  std::string head;
  try {
    head = read_file(path, 4);
  } catch (const ConfigError& error) {
    refuse_option("cannot read the reference '" + path + "': " + error.what(), "-y takes a file");
  }
  for (const auto& [magic, kind] : compressed) {
    if (head.starts_with(magic)) {
      refuse_option("the reference '" + path + "' is a " + kind + " file",
                    "-y takes planar pictures, as 'dse run ... -o NAME.yuv' writes them");
    }
  }
}

/// Refuse, before a long run, what cannot be compared with and what cannot be written.
inline void check_files(const RunOptions& options) {
  if (options.reference) {
    check_reference(*options.reference);
  }
  for (const auto& output : {options.output, options.write}) {
    const std::size_t end = output ? output->rfind('/') : std::string::npos;
    const std::string folder = end == std::string::npos ? "." : end == 0 ? "/" : output->substr(0, end);
    struct stat status = {};
    if (output && (::stat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))) {
      refuse_option("the folder '" + folder + "' of the output does not exist", "make it, or choose another");
    }
  }
}

/// Refuse options that a run with a GPU does not have.
inline void check_gpu(const ProgramOptions& options, const NetworkInfo& network) {
  if (options.run.pinned_fifos && network.device == nullptr) {
    refuse_option("FIFOs cannot lie in pinned memory: this program has no device code",
                  "build the program with 'dse build --cuda'");
  }
  if (options.run.pinned_fifos && network.mapping != nullptr) {
    refuse_option("this program is for one mapping alone, whose FIFOs inside a side need no pinned memory",
                  "build it without --static");
  }
  if (options.host_fifos && network.mapping != nullptr) {
    refuse_option("this program is for one mapping alone, and its FIFOs inside the GPU are special",
                  "leave out --fifos host, or build it without --static");
  }
  if (options.run.max_firings && uses_gpu(options.run.mapping)) {
    refuse_option("the firings of a run with a partition on a GPU cannot be bounded: a kernel asks nobody before it fires",
                  "leave out --max-firings, or the partition on the GPU");
  }
}

/// Refuse options that only a program has that measures times.
inline void check_timed(const ProgramOptions& options) {
  if (!measures_times() && (options.run.raw || options.singly)) {
    refuse_option("this program measures no times: there is nothing for --raw and --singly",
                  "'dse profile' builds one that does");
  }
}

/// Tells a file descriptor of the firings so far, a few times a second.
class ProgressTeller {
 public:
  ProgressTeller(std::optional<int> file, ProgramOutput& output) : file_(file), output_(output) {}

  void operator()(std::int64_t firings) {
    const std::int64_t now_ns = nanoseconds_now();
    if (now_ns - last_ns_ < 250'000'000) {
      return;
    }
    last_ns_ = now_ns;
    output_.flush();
    if (file_) {
      static_cast<void>(write_all(*file_, std::to_string(firings) + "\n"));
    }
  }

 private:
  std::optional<int> file_;
  ProgramOutput& output_;
  std::int64_t last_ns_ = 0;
};

/// Write to standard output; return the exit code.
inline int print(const std::string& text) {
  ProgramOutput output(true);
  output.write(text);
  output.flush();
  return final_code(0, output);
}

/// One run, from its options to its exit code.
class Program {
 public:
  Program(const NetworkInfo& network, ProgramOptions options)
      : options_(std::move(options)),
        report_{network},
        output_(options_.run.output || options_.run.write || options_.run.reference || options_.run.raw ||
                options_.trace || options_.result) {}

  /// Run. Throws ConfigError for what can be known to be wrong before.
  int run() {
    const NetworkNames names(report_.network);
    options_.run.mapping = chosen_mapping(options_, names);
    report_.hashed = options_.run.hash_channels;
    if (options_.show_mapping) {
      return print(mapping_json(names, options_.run.mapping) + "\n");
    }
    if (report_.network.mapping != nullptr) {
      options_.run.special_fifos = true;
    }
    check_timed(options_);
    check_gpu(options_, report_.network);
    check_files(options_.run);
    if (options_.singly) {
      options_.run.singly = read_singly(*options_.singly, report_.network);
    }
    if (options_.trace) {
      trace_.emplace(*options_.trace, report_.network.actors);
    }
    if (options_.result) {
      result_.emplace(*options_.result);
    }
    warn_of_time();
    warn_of_gpu();
    memory_wall().raise_to(options_.run.max_memory_bytes);
    const int code = guarded_run();
    memory_wall().lift();
    flush();
    return final_code(finished(code), output_);
  }

 private:
  /// Say before a run on several threads that it may do something else than one on one thread.
  void warn_of_time() const {
    const char* why = report_.network.time_matters;
    if (why != nullptr && !options_.quiet && needs_threads(options_.run.mapping)) {
      tell(render({why, {}, "", true}));
    }
  }

  /// Say before a run on processors alone which options have nothing to do there.
  void warn_of_gpu() const {
    if (options_.quiet || uses_gpu(options_.run.mapping)) {
      return;
    }
    for (const char* const name : options_.of_gpu) {
      tell(render({"no actor is on a GPU, where " + std::string(name) + " would do something",
                   {},
                   "name a partition PG in the mapping (--mapping), or leave it out",
                   true}));
    }
  }

  /// Run, and turn what is thrown into the error of the report and an exit code.
  int guarded_run() {
    try {
      return closed_run();
    } catch (const ConfigError& error) {
      return failed(error);
    } catch (const RunError& error) {
      return failed({error.what(), place_of(error.place), error.expected});
    } catch (const InputRefused& error) {
      report_.blame = Blame::input;
      return failed({error.what(), Place{options_.run.input.value_or("")}, error.expected});
    } catch (const Fault& error) {
      return failed({error.what(), {}, error.expected});
    } catch (const std::bad_alloc&) {
      return failed({out_of_memory_text("some"), {}, out_of_memory_advice});
    } catch (const Interrupted& interrupt) {
      flush();
      tell(shown_message("interrupted; " + std::string(interrupt.what())));
      report_.error = Diagnostic{"interrupted; " + std::string(interrupt.what())};
      return 128 + interrupt.signal;
    } catch (const ReaderGone&) {
      report_.error = Diagnostic{"nobody reads standard output"};
      return exit_reader_gone;
    }
  }

  int failed(Diagnostic diagnostic) {
    memory_wall().lift();
    flush();
    tell(render(diagnostic));
    report_.error = std::move(diagnostic);
    return exit_failed;
  }

  int failed(const ConfigError& error) {
    memory_wall().lift();
    flush();
    tell(error);
    report_.error = error.diagnostics().front();
    report_.blame = error.exit_code() == exit_usage ? Blame::option : Blame::fault;
    return error.exit_code();
  }

  /// Run in a world that is closed at the end, also after an error, which is then the one that counts.
  int closed_run() {
    const std::int64_t start_ns = nanoseconds_now();
    const std::unique_ptr<Context> context =
        make_context(options_, report_.network, [this](std::string_view text) { output_.write(text); });
    RunResult result;
    try {
      result = run_network(report_.network, {.options = options_.run,
                                             .context = *context,
                                             .sink = trace_ ? &*trace_ : nullptr,
                                             .progress = ProgressTeller(options_.progress, output_),
                                             .around_thread = [&context](const std::function<void()>& work) {
                                               work_and_print(*context, work);
                                             }});
    } catch (...) {
      close_after_error(*context);
      throw;
    }
    context->close();
    report_.setup_ns = std::max<std::int64_t>(0, nanoseconds_now() - start_ns - result.run_ns);
    note_effects(*context);
    context->check_input();
    if (trace_) {
      trace_->finish();
    }
    report_.result = std::move(result);
    return exit_code_of(report_);
  }

  void close_after_error(Context& context) {
    try {
      context.close();
    } catch (const ConfigError& error) {
      tell(error);
    }
    note_effects(context);
  }

  void note_effects(const Context& context) {
    report_.effects = effects_of(context);
    report_.effects.printed_bytes = output_.count();
  }

  void flush() { output_.flush(); }

  /// Tell of the run, and write the result; return the exit code.
  int finished(int code) {
    if (report_.result) {
      for (const std::string& line : summary_lines(report_, options_.quiet, options_.why)) {
        tell(line);
      }
    }
    if (result_) {
      try {
        result_->write(result_text(report_));
        result_->finish();
      } catch (const ConfigError& error) {
        tell(error);
        return code == 0 ? exit_failed : code;
      }
    }
    return code;
  }

  ProgramOptions options_;
  RunReport report_;
  ProgramOutput output_;
  std::optional<TraceFile> trace_;
  std::optional<WholeFile> result_;
};

/// Return the round trips between pairs of cores, as JSON.
inline std::string ping_pong_text(const std::vector<int>& cores) {
  JsonWriter json;
  json.open_object().key("pairs").open_list();
  for (std::size_t k = 0; k + 1 < cores.size(); k += 2) {
    json.open_object().key("cores").list(std::vector<int>{cores[k], cores[k + 1]});
    json.key("round_trip_ns").value(round_trip_ns(cores[k], cores[k + 1])).close_object();
  }
  return json.close_list().close_object().text() + "\n";
}

/// Return the exit code of a command line.
inline int run_command(const std::string& program, std::vector<std::string> arguments, const NetworkInfo& network) {
  ProgramOptions options = read_options(std::move(arguments));
  if (options.help) {
    return print(help_text(shown(program), shown(network.name)));
  }
  if (options.version) {
    return print(shown(network.name) + ", made by dse " DSE_VERSION "\n");
  }
  if (options.only_ping_pong) {
    return print(ping_pong_text(options.run.ping_pong_cores));
  }
  return Program(network, std::move(options)).run();
}

}  // namespace detail

int main(int argc, char** argv, const NetworkInfo& network) {
  open_closed_streams();
  ignore_signals_of_writes();
  const CrashStack stack;
  watch_crashes([]() -> const char* { return actor_at_work == nullptr ? nullptr : actor_at_work->name; });
  tell_work_when_asked();
  try {
    return detail::run_command(argc > 0 ? argv[0] : "app", {argv + (argc > 0 ? 1 : 0), argv + argc}, network);
  } catch (const ConfigError& error) {
    tell(error);
    return error.exit_code();
  } catch (const std::exception& error) {
    tell(shown_message(std::string("error: ") + error.what()));
    return exit_failed;
  }
}

}  // namespace dse
