// How a thread of a GPU ends with a fault: it tells the first one, and is gone.
#pragma once

#include "dse/device/crew.hpp"
#include "dse/device/plan.hpp"
#include "dse/device/words.hpp"
#include "dse/where.hpp"

namespace dse::device {

/// What the threads of a block know of where they are, by block; its leader sets it.
struct Whereabouts {
  Plan* plan = nullptr;
  std::int32_t actor = -1;
  Crew* crew = nullptr;
};

inline constexpr int most_blocks = 1024;

static __device__ Whereabouts whereabouts[most_blocks];  // static: exactly one file includes this

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

/// Tell what went wrong, if nobody has told anything yet.
DSE_FN inline void tell_fault(const char* message, int site, const char* expected) {
  Plan& plan = *here().plan;
  std::int32_t nobody = 0;
  if (DeviceRef<std::int32_t>(*plan.fault_taken).compare_exchange_strong(nobody, 1)) {
    FaultWords& fault = plan.control->fault;
    fault.actor = here().actor;
    fault.site = site;
    copy_text(fault.message, message);
    copy_text(fault.expected, expected);
    store<std::uint64_t>(plan.control->failed, 1, true);
  }
}

/// End the thread that leads a group, its lanes first, with a fault.
[[noreturn]] DSE_FN inline void end_group(const char* message, int site, const char* expected) {
  tell_fault(message, site, expected);
  if (here().crew != nullptr) {
    command(*here().crew, Task::end);
  }
  leave();
}

/// End a lane: it comes to the barrier as if it were done, and to that of the next order, which is to end.
[[noreturn]] DSE_FN inline void end_lane(const char* message, int site, const char* expected) {
  LaneFault& fault = lane_fault(*here().plan, blockIdx.x, threadIdx.x);
  fault.message = message;
  fault.site = site;
  fault.expected = expected;
  DeviceRef<std::int32_t>(here().crew->failed).fetch_add(1, cuda::memory_order_relaxed);
  meet_block();
  meet_block();
  leave();
}

}  // namespace dse::device

namespace DSE_SPACE {

[[noreturn]] DSE_FN inline void fail(const char* message, int site, const char* expected) {
  if (threadIdx.x != static_cast<unsigned>(device::here().plan->lanes)) {
    device::end_lane(message, site, expected);
  }
  device::end_group(message, site, expected);
}

}  // namespace DSE_SPACE
