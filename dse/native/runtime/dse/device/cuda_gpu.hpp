// A GPU by the CUDA runtime. The file of device code includes this, so the calls are compiled by its compiler.
//
// What is used: cooperative launch, mapped pinned memory, 64-bit unified addressing (a pointer to pinned memory is one
// on both sides), __nanosleep; so compute capability 7.0 or newer.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "dse/device/fault.hpp"
#include "dse/device/gpu.hpp"
#include "dse/errors.hpp"
#include "dse/run_types.hpp"

namespace dse::device {

using Kernel = void (*)(Plan*);

class CudaGpu final : public Gpu {
 public:
  explicit CudaGpu(Kernel kernel) : kernel_(kernel) {
    find_card();
    read_facts();
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "a stream cannot be made");
  }
  CudaGpu(const CudaGpu&) = delete;
  CudaGpu& operator=(const CudaGpu&) = delete;

  /// Nothing can be told any more, so results are not looked at. Memory that a kernel may still use stays.
  ~CudaGpu() override {
    if (launched_ && !ended_) {
      return;
    }
    for (void* place : device_) {
      static_cast<void>(cudaFree(place));
    }
    for (void* place : pinned_) {
      static_cast<void>(cudaFreeHost(place));
    }
    static_cast<void>(cudaStreamDestroy(stream_));
  }

  void* shared_memory(std::size_t bytes) override {
    void* place = nullptr;
    take(cudaHostAlloc(&place, rounded(bytes), cudaHostAllocMapped), bytes, "pinned memory");
    pinned_.push_back(place);
    void* mapped = nullptr;
    check(cudaHostGetDevicePointer(&mapped, place, 0), "pinned memory cannot be seen by the GPU");
    if (mapped != place) {
      throw ConfigError({"the GPU sees pinned memory at other addresses than the processor", {},
                         "dse needs a 64-bit system with unified addressing"}, exit_failed);
    }
    std::memset(place, 0, bytes);
    return place;
  }

  void* device_memory(std::size_t bytes) override {
    void* place = nullptr;
    take(cudaMalloc(&place, rounded(bytes)), bytes, "memory of the GPU");
    device_.push_back(place);
    check(cudaMemset(place, 0, bytes), "memory of the GPU cannot be cleared");
    return place;
  }

  void copy_to(void* device, const void* host, std::size_t bytes) override {
    if (bytes != 0) {
      check(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice), "nothing can be copied to the GPU");
    }
  }

  void copy_from(void* host, const void* device, std::size_t bytes) override {
    if (bytes != 0) {
      check(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost), "nothing can be copied from the GPU");
    }
  }

  int room(int threads) override {
    int blocks = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel_, threads, 0), "the GPU does not tell its room");
    return std::min(blocks * attribute(cudaDevAttrMultiProcessorCount), most_blocks);
  }

  void launch(Plan* plan, int blocks, int threads) override {
    check(cudaDeviceSynchronize(), "what was copied does not arrive");
    void* arguments[] = {&plan};
    check(cudaLaunchCooperativeKernel(kernel_, dim3(static_cast<unsigned>(blocks)),
                                      dim3(static_cast<unsigned>(threads)), arguments, std::size_t{0}, stream_),
          "the kernel cannot be started");
    launched_ = true;
  }

  bool has_ended() override {
    const cudaError_t state = cudaStreamQuery(stream_);
    if (state == cudaErrorNotReady) {
      return false;
    }
    if (state != cudaSuccess && facts_.time_limit) {
      throw ConfigError({"GPU: the kernel failed: " + words_of(state), {},
                         "the system ends kernels of '" + facts_.name + "' that run long: use a card that serves no screen"},
                        exit_failed);
    }
    check(state, "the kernel failed");
    ended_ = true;
    return true;
  }

  const GpuFacts& facts() const override { return facts_; }

 private:
  static std::size_t rounded(std::size_t bytes) { return (std::max<std::size_t>(bytes, 1) + 127) / 128 * 128; }

  static std::string words_of(cudaError_t error) {
    return std::string(cudaGetErrorString(error)) + " (" + cudaGetErrorName(error) + ")";
  }

  /// Throw what a call of CUDA says is wrong: it is about the machine, no fault of the usage.
  static void check(cudaError_t error, const char* what) {
    if (error != cudaSuccess) {
      throw ConfigError({std::string("GPU: ") + what + ": " + words_of(error), {}, ""}, exit_failed);
    }
  }

  static void take(cudaError_t error, std::size_t bytes, const char* what) {
    if (error == cudaErrorMemoryAllocation) {
      throw ConfigError({"GPU: there is too little " + std::string(what) + ": " + std::to_string(bytes) + " bytes more",
                         {}, "use smaller FIFOs, or place fewer actors on the GPU"}, exit_failed);
    }
    check(error, "memory cannot be had");
  }

  void find_card() {
    int cards = 0;
    const cudaError_t error = cudaGetDeviceCount(&cards);
    if (error != cudaSuccess || cards == 0) {
      throw ConfigError({"the mapping has a partition on a GPU, and there is none that CUDA can use" +
                             (error == cudaSuccess ? std::string() : ": " + words_of(error)),
                         {}, "place all actors on CPUs, or run the program where there is a GPU"}, exit_failed);
    }
    check(cudaSetDevice(0), "the first GPU cannot be used");
  }

  void read_facts() {
    cudaDeviceProp properties;
    check(cudaGetDeviceProperties(&properties, 0), "the GPU does not tell what it is");
    facts_.name = properties.name;
    facts_.major = properties.major;
    facts_.minor = properties.minor;
    facts_.time_limit = attribute(cudaDevAttrKernelExecTimeout) != 0;
#ifdef DSE_EMULATED
    facts_.emulated = true;
#endif
    if (attribute(cudaDevAttrCooperativeLaunch) == 0) {
      throw ConfigError({"'" + facts_.name + "' has no cooperative launch, which actors that wait for each other need", {},
                         "a card of compute capability 7.5 or newer"}, exit_failed);
    }
    cudaFuncAttributes kernel;
    const cudaError_t error = cudaFuncGetAttributes(&kernel, kernel_);
    if (error == cudaErrorNoKernelImageForDevice || error == cudaErrorInvalidDeviceFunction ||
        error == cudaErrorUnsupportedPtxVersion) {
      throw ConfigError({"'" + facts_.name + "' has compute capability " + std::to_string(facts_.major) + "." +
                             std::to_string(facts_.minor) + ", for which the program was not built: " + words_of(error),
                         {}, "build it with --cuda-arch " + std::to_string(facts_.major) + std::to_string(facts_.minor)},
                        exit_failed);
    }
    check(error, "the kernel cannot be loaded");
    facts_.most_threads = kernel.maxThreadsPerBlock;
  }

  static int attribute(cudaDeviceAttr which) {
    int value = 0;
    check(cudaDeviceGetAttribute(&value, which, 0), "the GPU does not tell what it is");
    return value;
  }

  const Kernel kernel_;
  GpuFacts facts_;
  cudaStream_t stream_ = nullptr;
  bool launched_ = false;
  bool ended_ = false;
  std::vector<void*> device_;
  std::vector<void*> pinned_;
};

}  // namespace dse::device
