// The actors and FIFOs of one run, made from the tables of the network.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "dse/actor.hpp"
#include "dse/device/on_gpu.hpp"
#include "dse/ends_apart.hpp"
#include "dse/faults.hpp"
#include "dse/log_bodies.hpp"
#include "dse/run_types.hpp"
#include "dse/tables.hpp"

namespace dse {

/// The largest number of firings of one visit.
inline constexpr std::int64_t burst_firings = 4096;

/// Return the capacity of a connection: what the mapping says, else the option or what the network declares; never less
/// than the rates of its ends ask for.
inline std::int64_t capacity_of(const NetworkInfo& network, std::size_t connection, const RunOptions& options) {
  const ConnectionInfo& info = network.connections[connection];
  const std::vector<std::int64_t>& mapped = options.mapping.capacities;
  const std::int64_t wanted = connection < mapped.size() && mapped[connection] > 0
                                  ? mapped[connection]
                                  : std::max(options.fifo_tokens, info.declared_tokens);
  return std::max({wanted, info.least_tokens, std::int64_t{1}});
}

/// All that runs. Actors stand in the order of the network's table, channels in that of its connections.
struct Instances {
  /// Make channels and actors. Throws RunError where an initial value cannot be computed or memory does not suffice.
  /// `shared`: where FIFOs lie that a GPU uses; null where no actor is on one.
  Instances(const NetworkInfo& network, const RunOptions& options, Context& context, TraceSink* sink,
            FifoMemory* shared = nullptr)
      : network(network), on_gpu(actors_on_gpu(network, options.mapping)), traced(sink != nullptr) {
    make_channels(options, shared);
    make_actors(context, sink);
  }

  const ActorInfo& info(std::size_t actor) const { return network.actors[actor]; }

  /// Return the firings of all actors so far.
  std::int64_t firings() const {
    std::int64_t sum = 0;
    for (const auto& actor : actors) {
      sum += actor->log.made();
    }
    return sum;
  }

  const NetworkInfo& network;
  const std::vector<bool> on_gpu;  // by actor
  const bool traced;
  std::vector<std::unique_ptr<Channel, ReleaseChannel>> channels;
  std::vector<std::unique_ptr<Actor>> actors;

 private:
  void make_channels(const RunOptions& options, FifoMemory* shared) {
    const std::vector<bool> apart = ends_apart(network, options.mapping);
    for (std::size_t k = 0; k != network.connections.size(); ++k) {
      const ConnectionInfo& info = network.connections[k];
      const std::int64_t capacity = capacity_of(network, k, options);
      try {
        const bool device = on_gpu[static_cast<std::size_t>(info.source)] || on_gpu[static_cast<std::size_t>(info.target)];
        channels.emplace_back(info.make(capacity, device || options.pinned_fifos ? shared : nullptr, apart[k]));
      } catch (const std::bad_alloc&) {
        throw RunError("the FIFO '" + std::string(info.name) + "' of " + std::to_string(capacity) +
                           " tokens needs more memory than there is",
                       {}, "give it a smaller size");
      }
      channels.back()->hashing = options.hash_channels;
      channels.back()->loud = info.source == info.target;
    }
  }

  void make_actors(Context& context, TraceSink* sink) {
    for (std::size_t k = 0; k != network.actors.size(); ++k) {
      actors.push_back(make_actor(k, wires_of(k, context)));
      actors.back()->log.open(static_cast<int>(k), info(k).actions, burst_firings, sink);
    }
    for (std::size_t k = 0; k != channels.size(); ++k) {
      channels[k]->source = actors[static_cast<std::size_t>(network.connections[k].source)].get();
      channels[k]->target = actors[static_cast<std::size_t>(network.connections[k].target)].get();
    }
  }

  Wires wires_of(std::size_t actor, Context& context) const {
    Wires wires(context, info(actor));
    wires.inputs.resize(info(actor).inputs.size());
    wires.outputs.resize(info(actor).outputs.size());
    for (std::size_t k = 0; k != channels.size(); ++k) {
      const ConnectionInfo& connection = network.connections[k];
      if (connection.target == static_cast<int>(actor)) {
        wires.inputs[static_cast<std::size_t>(connection.target_port)] = channels[k].get();
      }
      if (connection.source == static_cast<int>(actor)) {
        wires.outputs[static_cast<std::size_t>(connection.source_port)].push_back(channels[k].get());
      }
    }
    return wires;
  }

  std::unique_ptr<Actor> make_actor(std::size_t actor, const Wires& wires) const {
    const std::string name = info(actor).name;
    try {
      if (on_gpu[actor]) {
        return std::make_unique<OnGpu>(wires);
      }
      return std::unique_ptr<Actor>(info(actor).make(wires));
    } catch (const Fault& fault) {
      throw RunError("the initial values of '" + name + "' cannot be computed: " + fault.what(), info(actor).place, "");
    } catch (const std::bad_alloc&) {
      throw RunError("the initial values of '" + name + "' need more memory than the run may take", info(actor).place,
                     "--max-memory SIZE allows more");
    }
  }
};

}  // namespace dse
