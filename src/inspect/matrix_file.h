// The bytes that matrices travel as (docs/inspector-api.md, "Matrix files").
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "glassformer/tensor/shape.h"

namespace glass {

inline constexpr uint8_t masked_byte = 0;

// p in [0,1] as 1 + round(254 √p); what is no number counts as 0.
uint8_t weight_byte(double p);

// `shape.numel()` bytes of weight_byte(), or masked_byte.
std::string weight_matrix_file(const Shape& shape, std::span<const uint8_t> cells);

std::string float_matrix_file(const Shape& shape, std::span<const float> cells);

// Cells in 255 steps between the lowest and the highest; those that are not finite travel as masked.
std::string linear_matrix_file(const Shape& shape, std::span<const float> cells);

}  // namespace glass
