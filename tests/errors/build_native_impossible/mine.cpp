#include <cstdint>
std::int32_t twice(std::int32_t x) { return 2 * x; }
