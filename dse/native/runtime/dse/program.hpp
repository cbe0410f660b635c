// What network.cpp needs: the tables, the makers of FIFOs, and the body of `main`.
#pragma once

#include "dse/actor.hpp"
#include "dse/main.hpp"
#include "dse/tables.hpp"
