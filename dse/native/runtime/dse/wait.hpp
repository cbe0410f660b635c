// What an actor waits for when it cannot fire.
#pragma once

#include <cstdint>
#include <vector>

namespace dse {

enum class WaitKind { tokens, guard, room, unconnected };

/// What one candidate action of an actor waits for. `have` and `need` count tokens, or room for tokens. An actor's
/// `explain` leaves `actor` and `peers` to the runtime.
struct Wait {
  int action = 0;
  WaitKind kind = WaitKind::guard;
  int port = -1;  // of an input for tokens and unconnected, of an output for room
  std::int64_t have = 0;
  std::int64_t need = 0;
  int actor = -1;
  std::vector<int> peers = {};  // the writer of the input, or the readers whose FIFOs are full
};

}  // namespace dse
