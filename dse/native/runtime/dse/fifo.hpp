// Bounded FIFOs: one ring for each connection, one writer, one reader.
//
// Both ends count tokens for ever (64 bits do not overflow); a position modulo the size of the storage is a place in it.
// An end works on a copy of its position and publishes it at the end of a visit, so a whole visit's tokens become
// visible, and their space free, with one store; long visits between threads do so on their way too. What the other end has published is read once for each visit: a choice
// of actions so sees one moment. Where both ends are run by one thread, the loads and stores are plain ones on all
// common machines, and nobody writes the cache lines but that thread.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

#include "dse/elements.hpp"
#include "dse/fifo_memory.hpp"
#include "dse/sleepers.hpp"

namespace dse {

class Actor;

inline constexpr std::size_t cache_line_bytes = 64;

inline constexpr std::uint64_t fnv_basis = 1469598103934665603U;
inline constexpr std::uint64_t fnv_prime = 1099511628211U;

/// The bits of a token for the hash of golden records: integers modulo 2^64, floats as doubles, Strings as 0.
template <class T>
std::uint64_t token_bits(const T& token) {
  if constexpr (std::floating_point<T>) {
    return std::bit_cast<std::uint64_t>(static_cast<double>(token));
  } else if constexpr (std::is_same_v<T, std::string>) {
    return 0;
  } else if constexpr (requires { static_cast<std::uint64_t>(token); }) {
    return static_cast<std::uint64_t>(token);
  } else {
    return token.low_bits();
  }
}

/// Return a value as the type of tokens or variables that holds it; integers of any size (dse::Big) wrap.
template <class To, class From>
To as_token(const From& value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (requires { value.template wrapped<To>(); }) {
    return value.template wrapped<To>();
  } else {
    return static_cast<To>(value);
  }
}

/// What a FIFO is without its tokens. The fields of each end lie on a cache line of their own.
class Channel {
 public:
  explicit Channel(std::int64_t capacity) : capacity(capacity) {}
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  virtual ~Channel() = default;

  /// Carry the hash of all tokens on over those up to position `last`, which are still stored.
  virtual void hash_to(std::int64_t last) = 0;

  std::int64_t left() const {
    return written.load(std::memory_order_acquire) - read.load(std::memory_order_acquire);
  }

  /// Make what the last visit of the writer reached visible.
  void show_written() {
    written.store(written_reached, std::memory_order_release);
    if (reader_parking != nullptr && reader_parking->has_sleepers() && left() >= reader_wakes_at) {
      reader_parking->wake();
    }
  }

  /// Make the space that the last visit of the reader freed usable.
  void show_read() {
    read.store(read_reached, std::memory_order_release);
    if (writer_parking != nullptr && writer_parking->has_sleepers() && left() <= writer_wakes_at) {
      writer_parking->wake();
    }
  }

  static constexpr std::int64_t always_refill = std::numeric_limits<std::int64_t>::max();

  const std::int64_t capacity;
  void* tokens_at = nullptr;      // where the tokens are, how many, and how large one is: for who is no thread
  std::uint64_t tokens_held = 0;
  std::size_t token_bytes = 0;
  bool placed = false;  // it lies in memory that somebody else owns
  Actor* source = nullptr;
  Actor* target = nullptr;
  bool crossing = false;  // the ends may be run by different threads
  bool loud = false;      // each visit of an end says that tokens moved, as the Python execution of a loop does
  bool hashing = false;
  std::int64_t reader_refill = always_refill;  // an end that knows of so many tokens, or of room for so many, does
  std::int64_t writer_refill = always_refill;  // not ask the other one for more
  std::int64_t write_block = 1;  // of a crossing one: so many tokens are published at the end of a visit, fewer later
  std::int64_t read_block = 1;
  Sleepers* reader_parking = nullptr;  // of a crossing one: where the threads of that end sleep
  Sleepers* writer_parking = nullptr;
  std::int64_t reader_wakes_at = 0;              // tokens that wake a sleeping reader before the writer waits itself
  std::int64_t writer_wakes_at = always_refill;  // tokens left that wake a sleeping writer

  alignas(cache_line_bytes) std::atomic<std::int64_t> written{0};
  std::int64_t written_reached = 0;  // the writer's position after its last visit
  std::int64_t written_told = 0;     // the position up to which a sleeping reader was woken
  std::uint64_t digest = fnv_basis;
  std::int64_t hashed = 0;

  alignas(cache_line_bytes) std::atomic<std::int64_t> read{0};
  std::int64_t read_reached = 0;
  std::int64_t read_told = 0;
};

/// A FIFO of tokens of one type. The storage is a power of two of tokens that holds the capacity.
///
/// Where the ends may be run by different threads it holds some lines more: else the writer of a full FIFO would write
/// into the line from which the reader reads, and take it away from that core with each token. Of a large one two lines
/// are not worth that its storage may double.
template <class T>
class Fifo final : public Channel {
 public:
  /// `apart`: the ends may be run by different threads.
  Fifo(std::int64_t capacity, bool apart) : Fifo(capacity, apart, raw_elements<T>(size_for(capacity, apart)), nullptr) {}

  /// One whose tokens lie at a place that somebody else owns, as the FIFO itself does.
  Fifo(std::int64_t capacity, bool apart, T* place) : Fifo(capacity, apart, Elements<T>(), place) { placed = true; }

  /// Return how many tokens the storage holds.
  static std::uint64_t size_for(std::int64_t capacity, bool apart) {
    constexpr std::uint64_t lines_between = 2;  // the one that is read, and the next one, which processors fetch with it
    constexpr std::uint64_t line = std::max<std::uint64_t>(cache_line_bytes / sizeof(T), 1);
    constexpr std::uint64_t large = std::max<std::uint64_t>((std::uint64_t{1} << 20) / sizeof(T), 1);
    const auto held = static_cast<std::uint64_t>(std::max<std::int64_t>(capacity, 1));
    return std::bit_ceil(apart && held < large ? held + lines_between * line : held);
  }

  void hash_to(std::int64_t last) override {
    for (; hashed != last; ++hashed) {
      digest = (digest ^ token_bits(tokens[static_cast<std::uint64_t>(hashed) & (size - 1)])) * fnv_prime;
    }
  }

  const std::uint64_t size;
  T* const tokens;

 private:
  Fifo(std::int64_t capacity, bool apart, Elements<T> owned, T* place)
      : Channel(capacity), size(size_for(capacity, apart)), tokens(place != nullptr ? place : owned.get()), own_(std::move(owned)) {
    tokens_at = tokens;
    tokens_held = size;
    token_bytes = sizeof(T);
  }

  const Elements<T> own_;
};

/// Return a FIFO that the caller owns; where `memory` is given, it lies there with its tokens, and `ReleaseChannel` only
/// ends it. Tokens that are more than their bytes stay with the processor. `apart`: the ends may be run by different
/// threads. Throws std::bad_alloc, and what `memory` does.
template <class T>
Channel* make_fifo(std::int64_t capacity, FifoMemory* memory, bool apart) {
  if constexpr (std::is_trivially_copyable_v<T>) {
    if (memory != nullptr) {
      void* const place = memory->shared_memory(sizeof(Fifo<T>));
      void* const tokens = memory->shared_memory(Fifo<T>::size_for(capacity, apart) * sizeof(T));
      return ::new (place) Fifo<T>(capacity, apart, static_cast<T*>(tokens));
    }
  }
  return new Fifo<T>(capacity, apart);
}

/// How a FIFO of `make_fifo` goes.
struct ReleaseChannel {
  void operator()(Channel* channel) const {
    if (channel->placed) {
      channel->~Channel();
    } else {
      delete channel;
    }
  }
};

/// The reading end of a FIFO during a visit: a small value that lives in registers.
template <class T>
class Reader {
 public:
  explicit Reader(Channel* channel)
      : fifo_(static_cast<Fifo<T>*>(channel)), tokens_(fifo_->tokens), mask_(fifo_->size - 1) {}

  /// Learn what the writer has published. An end that still knows of plenty of tokens does not ask again where that
  /// would fetch a cache line from another core: it knows of enough for every action, so that no choice changes.
  void refresh() {
    if (end_ - position_ < fifo_->reader_refill) {
      end_ = fifo_->written.load(std::memory_order_acquire);
    }
  }

  /// Return whether nothing has become known since `refresh`; else learn it.
  bool steady() {
    const std::int64_t known = end_;
    refresh();
    return end_ == known;
  }

  /// Return whether another thread has published tokens that `refresh` would learn of.
  bool news(bool) const {
    return fifo_->crossing && end_ - position_ < fifo_->reader_refill &&
           fifo_->written.load(std::memory_order_relaxed) != end_;
  }

  std::int64_t count() const { return end_ - position_; }

  /// Token `k` from the front.
  const T& operator[](std::int64_t k) const { return tokens_[static_cast<std::uint64_t>(position_ + k) & mask_]; }

  /// Copy `n` tokens, from token `first` of the front on, each `stride`-th.
  template <class To>
  void copy(To* to, std::int64_t first, std::int64_t n, std::int64_t stride = 1) const {
    const std::uint64_t begin = static_cast<std::uint64_t>(position_ + first) & mask_;
    if (begin + static_cast<std::uint64_t>((n - 1) * stride) <= mask_ || n == 0) {
      const T* from = tokens_ + begin;
      for (std::int64_t k = 0; k != n; ++k) {
        to[k] = as_token<To>(from[k * stride]);
      }
      return;
    }
    for (std::int64_t k = 0; k != n; ++k) {
      to[k] = as_token<To>((*this)[first + k * stride]);
    }
  }

  void consume(std::int64_t n) { position_ += n; }

  /// Make the space of what was consumed free. Nothing else happens; see `publish`.
  void expose() { fifo_->read.store(position_, std::memory_order_release); }

  /// End a visit: free the space, and wake the writer, which may wait for it.
  void publish(Actor& self);

 private:
  Fifo<T>* fifo_;
  const T* tokens_;
  std::uint64_t mask_;
  std::int64_t position_ = 0;
  std::int64_t end_ = 0;
};

/// The writing end of an output with N readers during a visit: each reader has its own FIFO.
template <class T, int N>
class Writer {
  static_assert(N > 0, "an output without readers needs no writer");

 public:
  /// `channels`: the FIFOs of the N readers, in the order of the connections.
  template <class Channels>
  explicit Writer(const Channels& channels) {
    for (std::size_t k = 0; k != N; ++k) {
      fifos_[k] = static_cast<Fifo<T>*>(channels[k]);
      tokens_[k] = fifos_[k]->tokens;
      masks_[k] = fifos_[k]->size - 1;
    }
  }

  /// Learn what the readers have published; see `Reader::refresh`.
  void refresh() {
    if (limit_ - position_ < fifos_[0]->writer_refill) {
      limit_ = published_limit(std::memory_order_acquire);
    }
  }

  /// Return whether other threads have freed room that `refresh` would learn of; false where none is lacking.
  bool news(bool lacks_room) const {
    if (!lacks_room || limit_ - position_ >= fifos_[0]->writer_refill) {
      return false;
    }
    const bool crosses = std::any_of(fifos_.begin(), fifos_.end(), [](const Fifo<T>* fifo) { return fifo->crossing; });
    return crosses && published_limit(std::memory_order_relaxed) != limit_;
  }

  /// Room that grows during a snapshot changes no choice: an action that was chosen waits for it.
  static constexpr bool steady() { return true; }

  /// Tokens for which the fullest FIFO has room.
  std::int64_t room() const { return limit_ - position_; }

  /// Write one token.
  void put(const T& token) {
    for (std::size_t k = 0; k != N; ++k) {
      tokens_[k][static_cast<std::uint64_t>(position_) & masks_[k]] = token;
    }
    ++position_;
  }

  /// Write `n` tokens, from each `stride`-th value on.
  template <class From>
  void put(const From* from, std::int64_t n, std::int64_t stride = 1) {
    for (std::size_t k = 0; k != N; ++k) {
      put_into(k, from, n, stride);
    }
    position_ += n;
  }

  /// Write `n` tokens that lie `stride` apart, from `first` behind the last one on; `advance` counts them as written.
  template <class From>
  void lay(const From* from, std::int64_t first, std::int64_t n, std::int64_t stride) {
    for (std::size_t k = 0; k != N; ++k) {
      for (std::int64_t i = 0; i != n; ++i) {
        tokens_[k][static_cast<std::uint64_t>(position_ + first + i * stride) & masks_[k]] = as_token<T>(from[i]);
      }
    }
  }

  void advance(std::int64_t n) { position_ += n; }

  /// Make what was written visible. Nothing else happens; see `publish`.
  void expose() {
    for (Fifo<T>* fifo : fifos_) {
      if (fifo->hashing) {
        fifo->hash_to(position_);
      }
      fifo->written.store(position_, std::memory_order_release);
    }
  }

  /// End a visit: make what was written visible, and wake the readers.
  void publish(Actor& self);

 private:
  void publish_to(Fifo<T>& fifo);

  /// Return the position up to which there is room in all FIFOs, by what their readers have published.
  std::int64_t published_limit(std::memory_order order) const {
    std::int64_t limit = std::numeric_limits<std::int64_t>::max();
    for (const Fifo<T>* fifo : fifos_) {
      limit = std::min(limit, fifo->read.load(order) + fifo->capacity);
    }
    return limit;
  }

  template <class From>
  void put_into(std::size_t k, const From* from, std::int64_t n, std::int64_t stride) {
    const std::uint64_t begin = static_cast<std::uint64_t>(position_) & masks_[k];
    if (begin + static_cast<std::uint64_t>(n) <= masks_[k] + 1) {
      T* to = tokens_[k] + begin;
      for (std::int64_t i = 0; i != n; ++i) {
        to[i] = as_token<T>(from[i * stride]);
      }
      return;
    }
    for (std::int64_t i = 0; i != n; ++i) {
      tokens_[k][static_cast<std::uint64_t>(position_ + i) & masks_[k]] = as_token<T>(from[i * stride]);
    }
  }

  std::array<Fifo<T>*, N> fifos_{};
  std::array<T*, N> tokens_{};
  std::array<std::uint64_t, N> masks_{};
  std::int64_t position_ = 0;
  std::int64_t limit_ = 0;
};

/// After a firing that touched a connection from the actor to itself: both ends learn at once what moved.
template <class T, int N, class U>
void meet(Reader<U>& reader, Writer<T, N>& writer) {
  reader.expose();
  writer.expose();
  reader.refresh();
  writer.refresh();
}

}  // namespace dse
