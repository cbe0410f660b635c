// The part of the CUDA runtime that a program of dse uses, on the processor: each CUDA thread is a thread.
//
// For tests of what device code means, and for machines without a GPU; no measure of anything. Threads of the system
// make progress whatever others do, as the blocks of a cooperative launch do. Environment variables stand for cards:
// DSE_EMULATED_GPUS (how many there are), DSE_EMULATED_MEMORY (bytes), DSE_EMULATED_BLOCKS (at once),
// DSE_EMULATED_TIME_LIMIT (1: kernels that run long are ended), DSE_EMULATED_FAILURE (the name of a call that fails: a
// code of CUDA), DSE_EMULATED_CLOCK (milliseconds in which the rate of the clock of multiprocessors doubles).
#pragma once

#define DSE_EMULATED 1

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <vector>

#define __device__
#define __host__
#define __global__
#define __noinline__

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}  // NOLINT: as CUDA's
};

inline thread_local dim3 threadIdx(0, 0, 0);
inline thread_local dim3 blockIdx(0, 0, 0);

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorMemoryAllocation = 2,
  cudaErrorUnsupportedPtxVersion = 222,
  cudaErrorInvalidDeviceFunction = 98,
  cudaErrorNoDevice = 100,
  cudaErrorNoKernelImageForDevice = 209,
  cudaErrorNotReady = 600,
  cudaErrorLaunchFailure = 719,
  cudaErrorCooperativeLaunchTooLarge = 720,
  cudaErrorUnknown = 999,
};
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost };
enum cudaDeviceAttr { cudaDevAttrKernelExecTimeout, cudaDevAttrCooperativeLaunch, cudaDevAttrMultiProcessorCount };
inline constexpr unsigned cudaHostAllocMapped = 2;
inline constexpr unsigned cudaStreamNonBlocking = 1;

struct cudaDeviceProp {
  char name[256];
  int major;
  int minor;
};
struct cudaFuncAttributes {
  std::size_t localSizeBytes;
  int maxThreadsPerBlock;
};

namespace dse_emulation {

/// What a thread throws that ends with a fault, as `exit` of PTX ends it.
struct Left {};

[[noreturn]] inline void leave() { throw Left(); }

/// The barrier of a block: all its threads meet, again and again.
class Meeting {
 public:
  explicit Meeting(unsigned threads) : threads_(threads) {}
  void arrive_and_wait() {
    std::unique_lock lock(mutex_);
    const unsigned long long round = round_;
    if (++arrived_ == threads_) {
      arrived_ = 0;
      ++round_;
      all_.notify_all();
    } else {
      all_.wait(lock, [&] { return round_ != round; });
    }
  }

 private:
  const unsigned threads_;
  unsigned arrived_ = 0;
  unsigned long long round_ = 0;
  std::mutex mutex_;
  std::condition_variable all_;
};

inline thread_local Meeting* meeting = nullptr;

inline void meet_block() { meeting->arrive_and_wait(); }

inline long long number(const char* name, long long usual) {
  const char* text = std::getenv(name);
  return text == nullptr ? usual : std::atoll(text);
}

/// The timer of the card: nanoseconds.
inline std::int64_t timer_now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// The clock of a multiprocessor: one of 2 GHz, by the same clock; or one that moves at all times, by 4 % a millisecond
/// where it doubles in 20, for as long as its cycles can be counted.
inline std::int64_t clock_now() {
  static const std::int64_t start = timer_now();
  static const double doubling_ns = 1e6 * static_cast<double>(number("DSE_EMULATED_CLOCK", 0));
  const std::int64_t passed = timer_now() - start;
  if (doubling_ns == 0) {
    return 2 * passed;
  }
  const double doublings = std::min(static_cast<double>(passed) / doubling_ns, 32.0);
  return static_cast<std::int64_t>(2 * doubling_ns / std::log(2.0) * (std::exp2(doublings) - 1));
}

/// A kernel that runs: its threads, and how many of them have not ended.
struct Stream {
  std::vector<std::thread> threads;
  std::atomic<int> running{0};
  std::deque<Meeting> meetings;  // by block
  ~Stream() {
    for (std::thread& thread : threads) {
      thread.join();
    }
  }
};

inline cudaError_t failure(const char* call, cudaError_t code = cudaErrorUnknown) {
  const char* text = std::getenv("DSE_EMULATED_FAILURE");
  return text != nullptr && std::string(text) == call ? code : cudaSuccess;
}

inline std::atomic<long long> taken_bytes{0};

inline cudaError_t allocate(const char* call, void** place, std::size_t bytes) {
  if (const cudaError_t error = failure(call)) {
    return error;
  }
  if (taken_bytes.fetch_add(static_cast<long long>(bytes)) + static_cast<long long>(bytes) >
      number("DSE_EMULATED_MEMORY", 1LL << 32)) {
    return cudaErrorMemoryAllocation;
  }
  *place = std::aligned_alloc(128, bytes);
  return *place == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
}

}  // namespace dse_emulation

using cudaStream_t = dse_emulation::Stream*;

inline const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
    case cudaErrorMemoryAllocation:
      return "cudaErrorMemoryAllocation";
    case cudaErrorNoDevice:
      return "cudaErrorNoDevice";
    case cudaErrorNoKernelImageForDevice:
      return "cudaErrorNoKernelImageForDevice";
    case cudaErrorLaunchFailure:
      return "cudaErrorLaunchFailure";
    default:
      return "another error";
  }
}
inline const char* cudaGetErrorString(cudaError_t) { return "said by the emulation"; }

inline cudaError_t cudaGetDeviceCount(int* count) {
  *count = static_cast<int>(dse_emulation::number("DSE_EMULATED_GPUS", 1));
  if (const cudaError_t error = dse_emulation::failure("cudaGetDeviceCount")) {
    return error;
  }
  return *count == 0 ? cudaErrorNoDevice : cudaSuccess;
}
inline cudaError_t cudaSetDevice(int) { return dse_emulation::failure("cudaSetDevice"); }
inline cudaError_t cudaDeviceSynchronize() { return dse_emulation::failure("cudaDeviceSynchronize"); }
inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  std::strcpy(properties->name, "emulated GPU");
  properties->major = 7;
  properties->minor = 5;
  return dse_emulation::failure("cudaGetDeviceProperties");
}
inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr which, int) {
  const bool blocks = which == cudaDevAttrMultiProcessorCount;
  if (which == cudaDevAttrKernelExecTimeout) {
    *value = static_cast<int>(dse_emulation::number("DSE_EMULATED_TIME_LIMIT", 0));
    return cudaSuccess;
  }
  *value = blocks ? static_cast<int>(dse_emulation::number("DSE_EMULATED_BLOCKS", 256))
                  : (which == cudaDevAttrCooperativeLaunch ? 1 : 0);
  return dse_emulation::failure("cudaDeviceGetAttribute");
}
template <class T>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, T*) {
  attributes->localSizeBytes = 0;
  attributes->maxThreadsPerBlock = 8;  // a few are enough to test what they do together
  return dse_emulation::failure("cudaFuncGetAttributes", cudaErrorNoKernelImageForDevice);
}
template <class T>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, T*, int, std::size_t) {
  *blocks = 1;
  return dse_emulation::failure("cudaOccupancyMaxActiveBlocksPerMultiprocessor");
}

inline cudaError_t cudaMalloc(void** place, std::size_t bytes) {
  return dse_emulation::allocate("cudaMalloc", place, bytes);
}
inline cudaError_t cudaHostAlloc(void** place, std::size_t bytes, unsigned) {
  return dse_emulation::allocate("cudaHostAlloc", place, bytes);
}
inline cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned) {
  *device = host;
  return dse_emulation::failure("cudaHostGetDevicePointer");
}
inline cudaError_t cudaFree(void* place) {
  std::free(place);
  return dse_emulation::failure("cudaFree");
}
inline cudaError_t cudaFreeHost(void* place) {
  std::free(place);
  return dse_emulation::failure("cudaFreeHost");
}
inline cudaError_t cudaMemset(void* place, int value, std::size_t bytes) {
  std::memset(place, value, bytes);
  return dse_emulation::failure("cudaMemset");
}
inline cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  std::memcpy(to, from, bytes);
  return dse_emulation::failure("cudaMemcpy");
}

inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  if (const cudaError_t error = dse_emulation::failure("cudaStreamCreateWithFlags")) {
    return error;
  }
  *stream = new dse_emulation::Stream;
  return cudaSuccess;
}
inline cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  delete stream;
  return dse_emulation::failure("cudaStreamDestroy");
}
inline cudaError_t cudaStreamQuery(cudaStream_t stream) {
  if (const cudaError_t error = dse_emulation::failure("cudaStreamQuery", cudaErrorLaunchFailure)) {
    return error;
  }
  return stream->running.load() != 0 ? cudaErrorNotReady : cudaSuccess;
}

template <class... Parameters>
cudaError_t cudaLaunchCooperativeKernel(void (*kernel)(Parameters*...), dim3 grid, dim3 block, void** arguments,
                                        std::size_t, cudaStream_t stream) {
  if (const cudaError_t error = dse_emulation::failure("cudaLaunchCooperativeKernel", cudaErrorLaunchFailure)) {
    return error;
  }
  const auto work = [kernel, stream](unsigned group, unsigned thread, dse_emulation::Meeting* meeting,
                                     Parameters*... values) {
    blockIdx = dim3(group, 0, 0);
    threadIdx = dim3(thread, 0, 0);
    dse_emulation::meeting = meeting;
    try {
      kernel(values...);
    } catch (const dse_emulation::Left&) {
    }
    stream->running.fetch_sub(1);
  };
  stream->running = static_cast<int>(grid.x * block.x);
  for (unsigned group = 0; group != grid.x; ++group) {
    dse_emulation::Meeting* const meeting = &stream->meetings.emplace_back(block.x);
    for (unsigned thread = 0; thread != block.x; ++thread) {
      stream->threads.emplace_back(work, group, thread, meeting, *static_cast<Parameters**>(arguments[0])...);
    }
  }
  return cudaSuccess;
}

/// Waiting gives way: there may be fewer cores than threads.
inline void __nanosleep(unsigned nanoseconds) {
  if (nanoseconds < 512) {
    std::this_thread::yield();
  } else {
    std::this_thread::sleep_for(std::chrono::nanoseconds(nanoseconds));
  }
}
