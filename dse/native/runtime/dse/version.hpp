// The version of what a program writes.
#pragma once

namespace dse {

inline constexpr int result_version = 1;  // of the document of --result

}  // namespace dse
