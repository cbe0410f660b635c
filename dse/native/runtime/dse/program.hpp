// What network.cpp needs: the tables, the makers of FIFOs, and the body of `main`, which main.hpp defines in another file.
#pragma once

#include "dse/actor.hpp"
#include "dse/numbers.hpp"
#include "dse/tables.hpp"

namespace dse {

/// Run a network as the command line asks. Return the exit code: 0 done, 1 the run or a comparison failed, 2 the usage
/// or the mapping is wrong, 3 deadlock, 128 + n after signal n, 141 nobody reads what it prints.
int main(int argc, char** argv, const NetworkInfo& network);

}  // namespace dse
