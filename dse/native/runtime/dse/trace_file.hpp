// The file of --trace: the action ids of each actor, in the order of its firings.
//
//   8 bytes "DSENATV1", u32 actors; for each actor u64 firings and u8 bytes of an id (1 or 2); then the ids of each
//   actor in turn. All numbers are little-endian.
//
// How many ids an actor will have nobody knows before the end, so pieces go to a spool without a name as they come, and
// are put in order when the run is over. A trace of any length takes a bounded amount of memory.
#pragma once

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dse/files.hpp"
#include "dse/log.hpp"
#include "dse/tables.hpp"

namespace dse {

/// Takes the ids of a run and writes the file at its end. Throws WriteError, out of `take` too.
class TraceFile final : public TraceSink {
 public:
  /// `path` is not touched before `finish`.
  TraceFile(const std::string& path, std::span<const ActorInfo> actors) : file_(path), columns_(actors.size()) {
    const std::size_t share = most_held_bytes / std::max<std::size_t>(1, actors.size());
    piece_bytes_ = std::clamp<std::size_t>(share, 256, std::size_t{1} << 20);
    for (std::size_t k = 0; k != actors.size(); ++k) {
      columns_[k].id_bytes = actors[k].actions.size() <= most_narrow_actions ? 1 : 2;
    }
  }
  ~TraceFile() override {
    if (const int spool = spool_.load(); spool >= 0) {
      ::close(spool);
    }
  }

  void take(int actor, std::span<const NarrowId> ids) override {
    add(columns_[static_cast<std::size_t>(actor)],
        std::string_view(reinterpret_cast<const char*>(ids.data()), ids.size()));
  }

  void take(int actor, std::span<const WideId> ids) override {
    static_assert(std::endian::native == std::endian::little, "the file has the bytes of an id in this order");
    add(columns_[static_cast<std::size_t>(actor)],
        std::string_view(reinterpret_cast<const char*>(ids.data()), ids.size_bytes()));
  }

  /// Write the file and give it its name. No actor may run any more.
  void finish() {
    std::string head = "DSENATV1";
    append_number(head, columns_.size(), 4);
    for (const Column& column : columns_) {
      append_number(head, column.bytes / column.id_bytes, 8);
      append_number(head, column.id_bytes, 1);
    }
    file_.write(head);
    for (const Column& column : columns_) {
      for (const Piece& piece : column.pieces) {
        copy(piece);
      }
      file_.write(column.held);
    }
    file_.finish();
  }

 private:
  static constexpr std::size_t most_held_bytes = std::size_t{32} << 20;

  /// A part of the spool.
  struct Piece {
    std::uint64_t offset;
    std::uint64_t bytes;
  };

  /// The ids of one actor: pieces of the spool, then what is held. Only one thread at a time adds to it.
  struct Column {
    std::uint64_t id_bytes = 1;
    std::uint64_t bytes = 0;
    std::vector<Piece> pieces;
    std::string held;
  };

  static void append_number(std::string& text, std::uint64_t number, int bytes) {
    for (int k = 0; k != bytes; ++k) {
      text += static_cast<char>((number >> (8 * k)) & 0xFF);
    }
  }

  void add(Column& column, std::string_view bytes) {
    column.bytes += bytes.size();
    column.held += bytes;
    if (column.held.size() < piece_bytes_) {
      return;
    }
    const std::uint64_t offset = spooled_.fetch_add(column.held.size());
    spool(column.held, offset);
    if (!column.pieces.empty() && column.pieces.back().offset + column.pieces.back().bytes == offset) {
      column.pieces.back().bytes += column.held.size();
    } else {
      column.pieces.push_back({offset, column.held.size()});
    }
    column.held.clear();
  }

  void spool(std::string_view bytes, std::uint64_t offset) {
    while (!bytes.empty()) {
      const ssize_t count = ::pwrite(spool_number(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
      if (count < 0 && errno != EINTR) {
        throw WriteError(file_.path(), errno);
      }
      const std::size_t written = count < 0 ? 0 : static_cast<std::size_t>(count);
      bytes.remove_prefix(written);
      offset += written;
    }
  }

  /// Return the spool. The first that asks for it makes it; where two do at once, one of the files is closed again.
  int spool_number() {
    int spool = spool_.load();
    if (spool >= 0) {
      return spool;
    }
    const int made = nameless_file_beside(file_.path());
    if (made < 0) {
      throw WriteError(file_.path(), errno);
    }
    if (!spool_.compare_exchange_strong(spool, made)) {
      ::close(made);
      return spool;
    }
    return made;
  }

  void copy(const Piece& piece) {
    std::vector<char> buffer(std::size_t{1} << 18);
    for (std::uint64_t done = 0; done != piece.bytes;) {
      const std::size_t wanted = std::min<std::uint64_t>(buffer.size(), piece.bytes - done);
      const ssize_t count = ::pread(spool_.load(), buffer.data(), wanted, static_cast<off_t>(piece.offset + done));
      if (count == 0 || (count < 0 && errno != EINTR)) {
        file_.abandon(count == 0 ? EIO : errno);
      }
      const std::size_t got = count < 0 ? 0 : static_cast<std::size_t>(count);
      file_.write(std::string_view(buffer.data(), got));
      done += got;
    }
  }

  WholeFile file_;
  std::vector<Column> columns_;
  std::size_t piece_bytes_ = 0;
  std::atomic<std::uint64_t> spooled_ = 0;
  std::atomic<int> spool_ = -1;
};

}  // namespace dse
