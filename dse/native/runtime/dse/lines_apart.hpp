// Keeps what is allocated for one actor off the cache lines of what is allocated for others, which other threads write.
//
// Actors, with their lists, and what each thread knows are allocated one after the other: where what two cores write
// shared a line, each would take it from the other all the time. Whether it did depended on all that was allocated
// before: the same mapping of a program of 10 ns a firing took 116 ms, and 150 where the program had made room for
// records before. Behind each piece of memory there are therefore two lines that nobody uses, which is enough whatever
// the pieces are aligned to; two, since processors fetch lines in pairs.
//
// Exactly one file of a program includes this. Not with sanitizers, which look for accesses behind a piece.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define DSE_SANITIZED 1
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define DSE_SANITIZED 1
#endif

#ifndef DSE_SANITIZED

namespace dse {

inline constexpr std::size_t unused_bytes_behind = 128;

/// Return memory of at least so many bytes. Throws std::bad_alloc, after asking the handler that the program may have.
inline void* memory_apart(std::size_t bytes) {
  const std::size_t wanted = bytes + unused_bytes_behind;
  for (;;) {
    void* memory = wanted > bytes ? std::malloc(wanted) : nullptr;
    if (memory != nullptr) {
      return memory;
    }
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) {
      throw std::bad_alloc();
    }
    handler();
  }
}

}  // namespace dse

void* operator new(std::size_t bytes) { return dse::memory_apart(bytes); }
void* operator new[](std::size_t bytes) { return dse::memory_apart(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

#endif
