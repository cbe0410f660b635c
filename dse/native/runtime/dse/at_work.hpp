// Which actor a thread runs, for messages about crashes and for what it prints.
#pragma once

#include "dse/tables.hpp"

namespace dse {

/// The actor that this thread runs; null between actors.
inline constinit thread_local const ActorInfo* actor_at_work = nullptr;

/// While it lives, this thread runs an actor.
class AtWork {
 public:
  explicit AtWork(const ActorInfo& info) { actor_at_work = &info; }
  AtWork(const AtWork&) = delete;
  AtWork& operator=(const AtWork&) = delete;
  ~AtWork() { actor_at_work = nullptr; }
};

}  // namespace dse
