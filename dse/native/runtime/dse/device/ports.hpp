// The ends of FIFOs on a GPU: as those of fifo.hpp, by one thread each.
//
// An end keeps what it knows of the other one, and publishes its own position at the end of a visit, so that many tokens
// need one store. A store across the link is a release of system scope: the tokens before it are there when it is seen.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "dse/device/plan.hpp"
#include "dse/device/words.hpp"
#include "dse/numbers.hpp"
#include "dse/where.hpp"

namespace dse::device {

inline constexpr std::uint64_t fnv_prime = 1099511628211U;

/// The bits of a token for the hash of golden records: integers modulo 2^64, floats as doubles.
template <class T>
DSE_FN std::uint64_t token_bits(const T& token) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::bit_cast<std::uint64_t>(static_cast<double>(token));
  } else {
    return static_cast<std::uint64_t>(token);
  }
}

template <class T>
class Reader {
 public:
  DSE_FN explicit Reader(Ring* ring) : ring_(ring), tokens_(static_cast<const T*>(ring->tokens)), mask_(ring->mask) {}

  DSE_FN void refresh() {
    if (end_ - position_ < ring_->reader_refill) {
      end_ = load(*ring_->written, ring_->across);
    }
  }
  DSE_FN bool steady() {
    const std::int64_t known = end_;
    refresh();
    return end_ == known;
  }
  DSE_FN std::int64_t count() const { return end_ - position_; }
  DSE_FN const T& operator[](std::int64_t k) const { return tokens_[static_cast<std::uint64_t>(position_ + k) & mask_]; }

  template <class To>
  DSE_FN void copy(To* to, std::int64_t first, std::int64_t n, std::int64_t stride = 1) const {
    DSE_LOOP for (std::int64_t k = 0; k != n; ++k) {
      to[k] = static_cast<To>((*this)[first + k * stride]);
    }
  }
  DSE_FN void consume(std::int64_t n) { position_ += n; }
  DSE_FN EndTimes& times() const { return *ring_->reader_times; }

  /// Make the space of what was consumed free.
  DSE_FN void expose() {
    if (position_ != shown_) {
      store(*ring_->read, position_, ring_->across);
      shown_ = position_;
    }
  }

  /// End a visit; return whether a token moved in it.
  DSE_FN bool publish() {
    expose();
    const bool moved = position_ != left_;
    left_ = position_;
    return moved;
  }

 private:
  Ring* ring_;
  const T* tokens_;
  std::uint64_t mask_;
  std::int64_t position_ = 0;
  std::int64_t end_ = 0;
  std::int64_t shown_ = 0;  // published
  std::int64_t left_ = 0;   // at the end of the last visit
};

template <class T, int N>
class Writer {
 public:
  template <class Rings>
  DSE_FN explicit Writer(const Rings& rings) {
    DSE_LOOP for (int k = 0; k != N; ++k) {
      rings_[k] = rings[k];
    }
  }

  DSE_FN void refresh() {
    if (limit_ - position_ < rings_[0]->writer_refill) {
      limit_ = std::numeric_limits<std::int64_t>::max();
      DSE_LOOP for (int k = 0; k != N; ++k) {
        const std::int64_t limit = load(*rings_[k]->read, rings_[k]->across) + rings_[k]->capacity;
        limit_ = limit < limit_ ? limit : limit_;
      }
    }
  }
  DSE_FN static constexpr bool steady() { return true; }
  DSE_FN std::int64_t room() const { return limit_ - position_; }

  DSE_FN void put(const T& token) {
    DSE_LOOP for (int k = 0; k != N; ++k) {
      at(k, position_) = token;
    }
    ++position_;
  }
  template <class From>
  DSE_FN void put(const From* from, std::int64_t n, std::int64_t stride = 1) {
    DSE_LOOP for (int k = 0; k != N; ++k) {
      DSE_LOOP for (std::int64_t i = 0; i != n; ++i) {
        at(k, position_ + i) = static_cast<T>(from[i * stride]);
      }
    }
    position_ += n;
  }
  template <class From>
  DSE_FN void lay(const From* from, std::int64_t first, std::int64_t n, std::int64_t stride) {
    DSE_LOOP for (int k = 0; k != N; ++k) {
      DSE_LOOP for (std::int64_t i = 0; i != n; ++i) {
        at(k, position_ + first + i * stride) = static_cast<T>(from[i]);
      }
    }
  }
  DSE_FN void advance(std::int64_t n) { position_ += n; }
  DSE_FN EndTimes& times() const { return *rings_[0]->writer_times; }

  /// Make what was written visible.
  DSE_FN void expose() {
    if (position_ == shown_) {
      return;
    }
    DSE_LOOP for (int k = 0; k != N; ++k) {
      if (rings_[k]->hashing) {
        hash(k);
      }
      store(*rings_[k]->written, position_, rings_[k]->across);
    }
    shown_ = position_;
  }

  /// End a visit; return whether a token moved in it.
  DSE_FN bool publish() {
    expose();
    const bool moved = position_ != left_;
    left_ = position_;
    return moved;
  }

 private:
  DSE_FN T& at(int k, std::int64_t position) {
    return static_cast<T*>(rings_[k]->tokens)[static_cast<std::uint64_t>(position) & rings_[k]->mask];
  }
  DSE_FN void hash(int k) {
    Ring& ring = *rings_[k];
    DSE_LOOP for (; ring.hashed != position_; ++ring.hashed) {
      ring.digest = (ring.digest ^ token_bits(at(k, ring.hashed))) * fnv_prime;
    }
  }

  Ring* rings_[N] = {};
  std::int64_t position_ = 0;
  std::int64_t limit_ = 0;
  std::int64_t shown_ = 0;  // published
  std::int64_t left_ = 0;   // at the end of the last visit
};

/// After a firing that touched a connection from the actor to itself: both ends learn at once what moved.
template <class T, int N, class U>
DSE_FN void meet(Reader<U>& reader, Writer<T, N>& writer) {
  reader.expose();
  writer.expose();
  reader.refresh();
  writer.refresh();
}

}  // namespace dse::device
