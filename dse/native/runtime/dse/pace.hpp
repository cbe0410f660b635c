// How quick a core is just now.
#pragma once

#include <cstdint>

#include "dse/counter.hpp"

namespace dse {

/// Return the nanoseconds of a round of additions and shifts, several of which a core makes at once, in the mean over
/// about 0.2 ms. It takes up to twice as long while another thread is at work on the same physical core, whoever's it
/// is; steps that wait for each other would take as long as ever.
inline double work_round_ns() {
  constexpr std::uint64_t rounds = 200'000;
  std::uint64_t a = 1;
  std::uint64_t b = 2;
  std::uint64_t c = 3;
  std::uint64_t d = 4;
  std::uint64_t e = 5;
  std::uint64_t f = 6;
  const std::int64_t start_ns = nanoseconds_now();
  for (std::uint64_t k = 0; k != rounds; ++k) {
    a += k;
    b ^= a >> 1U;
    c += 3;
    d ^= c;
    e += d;
    f ^= k;
    a ^= f;
    __asm__ __volatile__("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f));
  }
  return static_cast<double>(nanoseconds_now() - start_ns) / static_cast<double>(rounds);
}

}  // namespace dse
