// The bodies of all native functions. Exactly one file of a program includes this one.
#pragma once

#include "dse/natives/bodies/access.hpp"
#include "dse/natives/bodies/context.hpp"
#include "dse/natives/bodies/display.hpp"
#include "dse/natives/bodies/files.hpp"
#include "dse/natives/bodies/open_file.hpp"
#include "dse/natives/bodies/screen.hpp"
#include "dse/natives/bodies/signals.hpp"
#include "dse/natives/bodies/source.hpp"
#include "dse/natives/bodies/writer.hpp"
