// Writes PNG (ISO/IEC 15948), by zlib.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace glass {

// rgb: three bytes a dot, row by row from the top, 3·width·height of them. Throws ValueError if they are not, or if
// there is no dot; Error if zlib fails.
std::string png_bytes(int width, int height, const std::vector<uint8_t>& rgb);

}  // namespace glass
