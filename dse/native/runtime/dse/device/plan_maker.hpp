// Makes the plan of a kernel from the actors and FIFOs of a run, and reads back what the kernel left in it.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "dse/device/gpu.hpp"
#include "dse/device/layout.hpp"
#include "dse/device/on_gpu.hpp"
#include "dse/device/plan.hpp"
#include "dse/device/report.hpp"
#include "dse/device/shape.hpp"
#include "dse/instances.hpp"
#include "dse/tables.hpp"
#include "dse/timing.hpp"

namespace dse::device {

/// The ids of an actor that is on the GPU, on their way to the trace.
struct IdRing {
  std::size_t actor;
  ActorPlan plan;
  std::int64_t taken = 0;
};

/// What the processor keeps of a plan: copies of what lies in device memory, in its order.
class PlanMaker {
 public:
  PlanMaker(Instances& instances, const RunOptions& options, Gpu& gpu)
      : instances_(instances),
        gpu_(gpu),
        groups_(groups_of(options.mapping)),
        has_lanes_(groups_with_lanes()),
        shape_(shape_of(options, has_lanes_, gpu)),
        layout_(instances, groups_, eager()) {
    make_rings(options);
    make_actors();
    make_plan();
  }

  Plan* plan() const { return device_plan_; }
  Control& control() const { return *plan_.control; }
  std::size_t group_count() const { return groups_.size(); }
  const GroupWords& words(std::size_t group) const { return *group_rows_[group].words; }
  std::vector<IdRing>& id_rings() { return id_rings_; }
  const Shape& shape() const { return shape_; }
  int block_count() const { return static_cast<int>(blocks_.size()); }

  /// The index into the network's table of an actor of the plan.
  std::size_t actor(std::size_t place) const { return order_[place]; }

  /// Return what the kernel noted of time; it must have ended.
  GpuReport report() {
    const GpuFacts& facts = gpu_.facts();
    GpuReport told{facts.name, facts.major, facts.minor, facts.emulated, {}, {}, {}, 1, 0, {}, {}};
    told.time_limit = facts.time_limit;
    for (const Group& group : group_rows_) {
      const ClockWords& words = *group.clock;
      told.clocks.push_back(
          {words.reading, {words.cycles, words.cycles + words.n}, {words.ns, words.ns + words.n}});
    }
    if constexpr (timed) {
      report_times(told);
    }
    return told;
  }

  /// Read back what the kernel did; it must have ended.
  void gather() {
    gather_channels();
    for (std::size_t place = 0; place != order_.size(); ++place) {
      gather_actor(place);
    }
  }

 private:
  static constexpr std::size_t kept_ids = std::size_t{1} << 14;

  template <class T>
  T* device_array(std::size_t count) {
    return static_cast<T*>(gpu_.device_memory(std::max<std::size_t>(count, 1) * sizeof(T)));
  }

  template <class T>
  T* copied(const std::vector<T>& items) {
    T* const place = device_array<T>(items.size());
    gpu_.copy_to(place, items.data(), items.size() * sizeof(T));
    return place;
  }

  template <class T>
  std::vector<T> read_back(const T* place, std::size_t count) {
    std::vector<T> items(count);
    gpu_.copy_from(items.data(), place, count * sizeof(T));
    return items;
  }

  bool on_gpu(int actor) const { return instances_.on_gpu[static_cast<std::size_t>(actor)]; }

  void make_rings(const RunOptions& options) {
    for (std::size_t k = 0; k != instances_.channels.size(); ++k) {
      const ConnectionInfo& info = instances_.network.connections[k];
      rings_.push_back(ring_of(k, options.special_fifos && on_gpu(info.source) && on_gpu(info.target)));
    }
    device_rings_ = copied(rings_);
  }

  Ring ring_of(std::size_t connection, bool special) {
    Channel& channel = *instances_.channels[connection];
    const EndRules& rules = layout_.of(connection);
    Ring ring;
    ring.mask = channel.tokens_held - 1;
    ring.capacity = channel.capacity;
    ring.across = !special;
    ring.hashing = channel.hashing;
    ring.reader_refill = rules.reader_refill;
    ring.writer_refill = rules.writer_refill;
    ring.digest = channel.digest;
    if constexpr (timed) {
      ring.reader_times = device_array<EndTimes>(1);
      ring.writer_times = device_array<EndTimes>(1);
    }
    if (special) {
      ring.tokens = gpu_.device_memory(channel.tokens_held * channel.token_bytes);
      ring.written = device_array<std::int64_t>(1);
      ring.read = device_array<std::int64_t>(1);
    } else {
      static_assert(sizeof channel.written == sizeof(std::int64_t), "a kernel sees a position as a number");
      ring.tokens = channel.tokens_at;
      ring.written = reinterpret_cast<std::int64_t*>(&channel.written);
      ring.read = reinterpret_cast<std::int64_t*>(&channel.read);
    }
    return ring;
  }

  void make_actors() {
    for (const GroupMembers& group : groups_) {
      for (const std::size_t actor : group.actors) {
        order_.push_back(actor);
        actors_.push_back(actor_plan(actor));
        if (actors_.back().ids != nullptr) {
          id_rings_.push_back({actor, actors_.back()});
        }
      }
    }
    device_actors_ = copied(actors_);
  }

  ActorPlan actor_plan(std::size_t actor) {
    const ActorInfo& info = instances_.info(actor);
    ActorPlan plan;
    plan.unit = info.unit;
    plan.object = gpu_.device_memory(unit(actor).bytes);
    connect(actor, plan);
    plan.shown_every = layout_.shown_every(actor);
    plan.needs_steady = layout_.needs_steady(actor);
    plan.counts = device_array<std::int64_t>(info.actions.size());
    plan.strays = device_array<std::int64_t>(info.sites.size());
    plan.rounds = device_array<std::int64_t>(2 * static_cast<std::size_t>(info.counted_loops));
    plan.waits = device_array<WaitRow>(info.actions.size());
    plan.narrow = info.actions.size() <= most_narrow_actions;
    if (instances_.traced) {
      plan.ids = gpu_.shared_memory(kept_ids * (plan.narrow ? 1 : 2));
      plan.ids_mask = kept_ids - 1;
      plan.ids_written = static_cast<std::int64_t*>(gpu_.shared_memory(sizeof(std::int64_t)));
      plan.ids_read = static_cast<std::int64_t*>(gpu_.shared_memory(sizeof(std::int64_t)));
    }
    if constexpr (timed) {
      plan.times = times_of(info.actions.size());
    }
    return plan;
  }

  ActorTimes times_of(std::size_t actions) {
    return {.actions = static_cast<std::int32_t>(actions),
            .choosing = device_array<TimeSum>((actions + 1) * actions),
            .phases = device_array<TimeSum>(3 * actions),
            .leaving = device_array<TimeSum>(1),
            .vain = device_array<TimeSum>(1),
            .starting = device_array<TimeSum>(1)};
  }

  void report_times(GpuReport& told) {
    for (std::size_t place = 0; place != order_.size(); ++place) {
      const ActorTimes& times = actors_[place].times;
      const auto actions = static_cast<std::size_t>(times.actions);
      told.actors.push_back({.actor = static_cast<int>(order_[place]),
                             .choosing = read_back(times.choosing, (actions + 1) * actions),
                             .phases = read_back(times.phases, 3 * actions),
                             .leaving = read_back(times.leaving, 1).front(),
                             .vain = read_back(times.vain, 1).front(),
                             .starting = read_back(times.starting, 1).front()});
    }
    for (std::size_t k = 0; k != rings_.size(); ++k) {
      const ConnectionInfo& info = instances_.network.connections[k];
      for (const bool writes : {false, true}) {
        if (on_gpu(writes ? info.source : info.target)) {
          const EndTimes* const times = writes ? rings_[k].writer_times : rings_[k].reader_times;
          told.ends.push_back({static_cast<int>(k), writes, read_back(times, 1).front()});
        }
      }
    }
  }

  void connect(std::size_t actor, ActorPlan& plan) {
    const ActorInfo& info = instances_.info(actor);
    std::vector<Ring*> inputs(info.inputs.size(), nullptr);
    std::vector<std::vector<Ring*>> outputs(info.outputs.size());
    for (std::size_t k = 0; k != rings_.size(); ++k) {
      const ConnectionInfo& connection = instances_.network.connections[k];
      if (connection.target == static_cast<int>(actor)) {
        inputs[static_cast<std::size_t>(connection.target_port)] = device_rings_ + k;
      }
      if (connection.source == static_cast<int>(actor)) {
        outputs[static_cast<std::size_t>(connection.source_port)].push_back(device_rings_ + k);
      }
    }
    std::vector<Ring**> readers;
    for (const std::vector<Ring*>& output : outputs) {
      readers.push_back(copied(output));
    }
    plan.inputs = copied(inputs);
    plan.outputs = copied(readers);
  }

  const Unit& unit(std::size_t actor) const {
    return instances_.network.device->units[static_cast<std::size_t>(instances_.info(actor).unit)];
  }

  /// Return for each group whether an actor of it can use lanes; a group that fires one by one cannot.
  std::vector<bool> groups_with_lanes() const {
    std::vector<bool> found;
    for (const GroupMembers& group : groups_) {
      const bool any = std::any_of(group.actors.begin(), group.actors.end(),
                                   [this](std::size_t actor) { return unit(actor).has_lanes; });
      found.push_back(any && group.turn != Turn::one);
    }
    return found;
  }

  std::vector<bool> eager() const {
    std::vector<bool> found(instances_.actors.size(), false);
    for (std::size_t k = 0; k != groups_.size(); ++k) {
      for (const std::size_t actor : groups_[k].actors) {
        found[actor] = shape_.has_crews() && has_lanes_[k] && unit(actor).has_lanes;
      }
    }
    return found;
  }

  /// Make the lanes of each group that has some, and say of each block whose it is.
  void make_crews() {
    for (std::size_t k = 0; k != groups_.size(); ++k) {
      const auto first = static_cast<std::int32_t>(blocks_.size());
      const bool several = shape_.has_crews() && has_lanes_[k];
      const int blocks = several ? shape_.blocks : 1;
      for (std::int32_t rank = 0; rank != blocks; ++rank) {
        blocks_.push_back({.group = static_cast<std::int32_t>(k), .rank = rank});
      }
      Crew crew;
      crew.first_block = first;
      crew.blocks = blocks;
      crew.lanes = shape_.lanes;
      group_rows_[k].crew = several ? copied(std::vector<Crew>{crew}) : nullptr;
    }
    plan_.blocks = copied(blocks_);
    plan_.lanes = shape_.lanes;
    plan_.lane_faults = copied(std::vector<LaneFault>(blocks_.size() * static_cast<std::size_t>(shape_.lanes)));
  }

  void make_plan() {
    std::int32_t first = 0;
    auto* const words = static_cast<GroupWords*>(gpu_.shared_memory(groups_.size() * sizeof(GroupWords)));
    auto* const clocks = static_cast<ClockWords*>(gpu_.shared_memory(groups_.size() * sizeof(ClockWords)));
    for (std::size_t k = 0; k != groups_.size(); ++k) {
      const auto count = static_cast<std::int32_t>(groups_[k].actors.size());
      group_rows_.push_back({.first = first, .count = count, .turn = groups_[k].turn, .words = words + k, .clock = clocks + k});
      first += count;
    }
    make_crews();
    plan_.actors = device_actors_;
    plan_.groups = copied(group_rows_);
    plan_.n_groups = static_cast<std::int32_t>(groups_.size());
    plan_.control = static_cast<Control*>(gpu_.shared_memory(sizeof(Control)));
    plan_.control->fault.actor = -1;
    plan_.fault_taken = device_array<std::int32_t>(1);
    device_plan_ = copied(std::vector<Plan>{plan_});
  }

  void gather_channels() {
    const std::vector<Ring> ends = read_back(device_rings_, rings_.size());
    for (std::size_t k = 0; k != ends.size(); ++k) {
      const ConnectionInfo& info = instances_.network.connections[k];
      Channel& channel = *instances_.channels[k];
      const bool shared = rings_[k].across;
      if (on_gpu(info.source)) {
        channel.written_reached = shared ? channel.written.load() : read_back(rings_[k].written, 1).front();
        channel.written.store(channel.written_reached);
        channel.digest = ends[k].digest;
      }
      if (on_gpu(info.target)) {
        channel.read_reached = shared ? channel.read.load() : read_back(rings_[k].read, 1).front();
        channel.read.store(channel.read_reached);
      }
    }
  }

  void gather_actor(std::size_t place) {
    const ActorPlan& plan = actors_[place];
    const ActorInfo& info = instances_.info(order_[place]);
    auto& actor = static_cast<OnGpu&>(*instances_.actors[order_[place]]);
    if (plan.ids == nullptr) {
      actor.log.add(read_back(plan.counts, info.actions.size()));
    }
    actor.strays = read_back(plan.strays, info.sites.size());
    actor.rounds = read_back(plan.rounds, actor.rounds.size());
    const ActorPlan left = read_back(device_actors_ + place, 1).front();
    actor.batched = left.batched;
    actor.shared = left.shared;
    for (const WaitRow& row : read_back(plan.waits, static_cast<std::size_t>(left.n_waits))) {
      actor.waits.push_back({.action = row.action,
                             .kind = static_cast<WaitKind>(row.kind),
                             .port = row.port,
                             .have = row.have,
                             .need = row.need});
    }
  }

  Instances& instances_;
  Gpu& gpu_;
  const std::vector<GroupMembers> groups_;
  const std::vector<bool> has_lanes_;  // by group
  const Shape shape_;
  const Layout layout_;
  std::vector<Ring> rings_;        // by connection
  std::vector<ActorPlan> actors_;  // by place in the plan
  std::vector<std::size_t> order_;
  std::vector<Group> group_rows_;
  std::vector<Block> blocks_;
  std::vector<IdRing> id_rings_;
  Ring* device_rings_ = nullptr;
  ActorPlan* device_actors_ = nullptr;
  Plan plan_;
  Plan* device_plan_ = nullptr;
};

}  // namespace dse::device
