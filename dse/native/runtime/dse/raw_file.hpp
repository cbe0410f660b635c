// The file of --raw: what the profiler's program noted. dse/measure/raw_records.py reads it.
//
//   8 bytes "DSERAW02", u32 kind of the counter, u32 actors, u32 threads, u32 N: one visit of N is noted, u64 counter at
//   the start and at the end of the run, u64 nanoseconds of the monotonic clock at the same moments; for each thread u32
//   partition, i32 core (-1: not pinned), u64 visits, u64 single firings, u64 actors visited in vain, and then these
//   records, as records.hpp has them. Little-endian.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "dse/counter.hpp"
#include "dse/files.hpp"
#include "dse/records.hpp"
#include "dse/run_types.hpp"

namespace dse {

static_assert(std::endian::native == std::endian::little, "records are written as they lie in memory");

class RawFile {
 public:
  /// `path` is not touched before `write`.
  explicit RawFile(const std::string& path) : file_(path) {}

  /// Write the file. `records[k]` is what thread k of the result noted: one visit in `every`.
  /// Throws WriteError.
  void write(const RunResult& result, std::size_t actors, const std::vector<std::unique_ptr<ThreadRecords>>& records,
             std::uint64_t every) {
    file_.write("DSERAW02");
    put(static_cast<std::uint32_t>(counter_kind));
    put(static_cast<std::uint32_t>(actors));
    put(static_cast<std::uint32_t>(records.size()));
    put(static_cast<std::uint32_t>(every));
    put(result.counter_start);
    put(result.counter_end);
    put(result.start_ns);
    put(result.end_ns);
    for (std::size_t k = 0; k != records.size(); ++k) {
      put_thread(result.threads[k], *records[k]);
    }
    file_.finish();
  }

 private:
  void put_thread(const ThreadReport& report, const ThreadRecords& records) {
    std::vector<FruitlessRecord> fruitless;
    for (const FruitlessRecord& record : records.fruitless) {
      if (record.visits != 0) {
        fruitless.push_back(record);
      }
    }
    put(static_cast<std::uint32_t>(report.partition));
    put(static_cast<std::int32_t>(report.core));
    put(std::uint64_t{records.visits.size()});
    put(std::uint64_t{records.singles.size()});
    put(std::uint64_t{fruitless.size()});
    const auto put_all = [this](const auto* first, std::size_t count) {
      file_.write({reinterpret_cast<const char*>(first), count * sizeof *first});
    };
    records.visits.each_piece(put_all);
    records.singles.each_piece(put_all);
    put_all(fruitless.data(), fruitless.size());
  }

  template <class Number>
  void put(Number number) {
    file_.write({reinterpret_cast<const char*>(&number), sizeof number});
  }

  WholeFile file_;
};

}  // namespace dse
