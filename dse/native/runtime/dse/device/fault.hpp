// How a thread of a GPU ends with a fault: it tells the first one, and is gone.
#pragma once

#include "dse/device/plan.hpp"
#include "dse/device/words.hpp"
#include "dse/where.hpp"

namespace dse::device {

/// What the threads of a block know of where they are, by block; the kernel sets it.
struct Whereabouts {
  Plan* plan = nullptr;
  std::int32_t actor = -1;
};

inline constexpr int most_groups = 1024;

static __device__ Whereabouts whereabouts[most_groups];  // static: exactly one file includes this

DSE_FN inline Whereabouts& here() { return whereabouts[blockIdx.x]; }

/// End the calling thread.
[[noreturn]] DSE_FN inline void leave() {
#ifdef DSE_EMULATED
  dse_emulation::leave();
#else
  asm volatile("exit;");
  __builtin_unreachable();
#endif
}

DSE_FN inline void copy_text(char* to, const char* from) {
  int k = 0;
  for (; from[k] != '\0' && k != FaultWords::most_characters - 1; ++k) {
    to[k] = from[k];
  }
  to[k] = '\0';
}

}  // namespace dse::device

namespace DSE_SPACE {

[[noreturn]] DSE_FN inline void fail(const char* message, int site, const char* expected) {
  device::Plan& plan = *device::here().plan;
  std::int32_t nobody = 0;
  if (device::DeviceRef<std::int32_t>(*plan.fault_taken).compare_exchange_strong(nobody, 1)) {
    device::FaultWords& fault = plan.control->fault;
    fault.actor = device::here().actor;
    fault.site = site;
    device::copy_text(fault.message, message);
    device::copy_text(fault.expected, expected);
    device::store<std::uint64_t>(plan.control->failed, 1, true);
  }
  device::leave();
}

}  // namespace DSE_SPACE
