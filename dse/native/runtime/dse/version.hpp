// Versions of the program and of what it writes.
#pragma once

namespace dse {

inline constexpr const char* program_version = "0.1.0";  // as in dse/__init__.py
inline constexpr int result_version = 1;                 // of the document of --result

}  // namespace dse
