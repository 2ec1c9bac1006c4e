// The colours of everything in a picture but its data.
#pragma once

#include "glassformer/inspect/heat_map.h"

namespace glass {

inline constexpr Color ink{0x22, 0x22, 0x22};               // words that name
inline constexpr Color grey{0x66, 0x66, 0x66};              // words that explain
inline constexpr Color rule{0xdd, 0xdd, 0xdd};              // lines to read a value off
inline constexpr Color may_attend_color{0x35, 0x5c, 0x8d};  // what a mask lets through

}  // namespace glass
