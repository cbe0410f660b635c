// The ends of FIFOs on the GPU in the micro-benchmark of the link: each is one block of one thread, which moves tokens as
// the leader of a group of actors does, by the ends that all device code has (dse/device/ports.hpp).
#define DSE_ON_DEVICE
#include "dse/device/clock.hpp"
#include "dse/device/plan.hpp"
#include "dse/device/ports.hpp"
#include "dse/device/words.hpp"
#include "dse/where.hpp"
#include "probe/link.hpp"

#ifdef __CUDACC__
#pragma nv_diag_suppress 177  // what is not used of the headers
#endif

namespace {

using dse::device::ActorPlan;
using dse::device::ClockSamples;
using dse::device::Group;
using dse::device::Plan;
using dse::device::Reader;
using dse::device::Writer;
using link_probe::LinkTask;
using link_probe::Role;

/// The waits of one block: short ones first, and none when the run is given up.
class Turn {
 public:
  DSE_FN Turn(Plan& plan, const Group& group) : plan_(plan), clock_(group.clock) {}

  /// Say that the block is there, and wait for the others.
  DSE_FN bool begins(const Group& group) {
    clock_.begin();
    dse::device::store<std::uint64_t>(group.words->epoch, 1, true);
    while (dse::device::load(plan_.control->request, true) == 0) {
      if (!waits()) {
        return false;
      }
    }
    moved();
    return true;
  }
  DSE_FN void ends() { clock_.end(); }

  /// Wait a little, longer each time; return whether to go on.
  DSE_FN bool waits() {
    __nanosleep(nap_ns_);
    nap_ns_ = nap_ns_ < longest_nap_ns ? 2 * nap_ns_ : nap_ns_;
    return dse::device::load(plan_.control->stop, true) == 0;
  }
  DSE_FN void moved() {
    nap_ns_ = shortest_nap_ns;
    clock_.look();
  }

 private:
  static constexpr unsigned shortest_nap_ns = 16;
  static constexpr unsigned longest_nap_ns = 256;
  Plan& plan_;
  ClockSamples clock_;
  unsigned nap_ns_ = shortest_nap_ns;
};

template <class T>
DSE_FN bool read_block(Reader<T>& reader, LinkTask& task, Turn& turn) {
  T* const into = static_cast<T*>(task.tokens);
  for (;;) {
    const std::int64_t from = dse::device::clock_now();
    reader.refresh();
    if (reader.count() >= task.block) {
      reader.copy(into, 0, task.block);
      reader.consume(task.block);
      reader.expose();
      dse::device::add(task.took, dse::device::clock_now() - from);
      DSE_LOOP for (std::int64_t k = 0; k != task.block; ++k) {
        task.sum += static_cast<std::uint64_t>(into[k]);
      }
      return true;
    }
    if (!turn.waits()) {
      return false;
    }
  }
}

template <class T>
DSE_FN bool write_block(Writer<T, 1>& writer, LinkTask& task, std::int64_t block, Turn& turn) {
  T* const tokens = static_cast<T*>(task.tokens);
  DSE_LOOP for (std::int64_t k = 0; k != task.block; ++k) {
    tokens[k] = static_cast<T>(link_probe::token_at(block * task.block + k));
  }
  for (;;) {
    const std::int64_t from = dse::device::clock_now();
    writer.refresh();
    if (writer.room() >= task.block) {
      writer.put(tokens, task.block);
      writer.expose();
      dse::device::add(task.took, dse::device::clock_now() - from);
      return true;
    }
    if (!turn.waits()) {
      return false;
    }
  }
}

/// Send every block back, as an actor does that has one input and one output.
template <class T>
DSE_FN bool echo_block(Reader<T>& reader, Writer<T, 1>& writer, LinkTask& task, Turn& turn) {
  if (!read_block(reader, task, turn)) {
    return false;
  }
  while (writer.refresh(), writer.room() < task.block) {
    if (!turn.waits()) {
      return false;
    }
  }
  writer.put(static_cast<T*>(task.tokens), task.block);
  writer.expose();
  return true;
}

template <class T>
DSE_FN void move_blocks(ActorPlan& actor, LinkTask& task, Turn& turn) {
  if (task.role == Role::writes) {
    Writer<T, 1> writer(actor.outputs[0]);
    for (std::int64_t k = 0; k != task.blocks && write_block(writer, task, k, turn); ++k) {
      turn.moved();
    }
    return;
  }
  Reader<T> reader(actor.inputs[0]);
  if (task.role == Role::reads) {
    for (std::int64_t k = 0; k != task.blocks && read_block(reader, task, turn); ++k) {
      turn.moved();
    }
    return;
  }
  Writer<T, 1> writer(actor.outputs[0]);
  for (std::int64_t k = 0; k != task.blocks && echo_block(reader, writer, task, turn); ++k) {
    turn.moved();
  }
}

__global__ void measure_link(Plan* plan) {
  const Group& group = plan->groups[blockIdx.x];
  ActorPlan& actor = plan->actors[group.first];
  LinkTask& task = *static_cast<LinkTask*>(actor.object);
  Turn turn(*plan, group);
  if (!turn.begins(group)) {
    return;
  }
  switch (task.token_bytes) {
    case 1:
      move_blocks<std::uint8_t>(actor, task, turn);
      break;
    case 2:
      move_blocks<std::int16_t>(actor, task, turn);
      break;
    case 4:
      move_blocks<std::int32_t>(actor, task, turn);
      break;
    default:
      move_blocks<std::int64_t>(actor, task, turn);
  }
  turn.ends();
}

}  // namespace

#include "dse/device/cuda_gpu.hpp"

dse::device::Gpu* open_gpu();
dse::device::Gpu* open_gpu() { return new dse::device::CudaGpu(measure_link); }
