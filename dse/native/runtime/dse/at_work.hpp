// Which actor a thread runs, for messages about crashes.
#pragma once

#include "dse/tables.hpp"

namespace dse {

/// The actor that this thread runs; null between actors.
inline constinit thread_local const ActorInfo* actor_at_work = nullptr;

}  // namespace dse
