// Loads and stores of words that several threads see: with system scope where one of them may be on the processor.
#pragma once

#include <cuda/atomic>

#include "dse/where.hpp"

namespace dse::device {

template <class T>
using SystemRef = cuda::atomic_ref<T, cuda::thread_scope_system>;
template <class T>
using DeviceRef = cuda::atomic_ref<T, cuda::thread_scope_device>;

template <class T>
DSE_FN T load(T& word, bool across) {
  return across ? SystemRef<T>(word).load(cuda::memory_order_acquire)
                : DeviceRef<T>(word).load(cuda::memory_order_acquire);
}

template <class T>
DSE_FN void store(T& word, T value, bool across) {
  if (across) {
    SystemRef<T>(word).store(value, cuda::memory_order_release);
  } else {
    DeviceRef<T>(word).store(value, cuda::memory_order_release);
  }
}

}  // namespace dse::device
