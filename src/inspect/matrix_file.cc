#include "inspect/matrix_file.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace glass {

static_assert(std::endian::native == std::endian::little, "matrix files are written as memory holds the numbers");

namespace {

enum class CellType : uint8_t { weight = 1, real = 2, linear = 3 };

struct Range {
  float low = 0, high = 0;
};

template <class T>
void append(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string header(CellType type, const Shape& shape, const Range& range) {
  std::string bytes = "GFM1";
  append(bytes, uint8_t{1});
  append(bytes, type);
  append(bytes, static_cast<uint8_t>(shape.rank()));
  append(bytes, uint8_t{0});
  for (const Dim size : shape) append(bytes, static_cast<uint32_t>(size));
  append(bytes, range.low);
  append(bytes, range.high);
  return bytes;
}

Range range_of(std::span<const float> cells) {
  Range range{std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()};
  for (const float x : cells) {
    if (!std::isfinite(x)) continue;
    range.low = std::min(range.low, x);
    range.high = std::max(range.high, x);
  }
  return range.low <= range.high ? range : Range{};
}

// In double: the range of two floats may be no float.
uint8_t linear_byte(float x, const Range& range) {
  if (!std::isfinite(x)) return masked_byte;
  const double width = static_cast<double>(range.high) - range.low;
  const double share = width > 0 ? (static_cast<double>(x) - range.low) / width : 0;
  return static_cast<uint8_t>(1 + std::lround(254 * share));
}

}  // namespace

uint8_t weight_byte(double p) {
  if (!(p > 0)) return 1;
  return static_cast<uint8_t>(1 + std::lround(254 * std::sqrt(std::min(p, 1.0))));
}

std::string weight_matrix_file(const Shape& shape, std::span<const uint8_t> cells) {
  std::string bytes = header(CellType::weight, shape, {0, 1});
  bytes.append(reinterpret_cast<const char*>(cells.data()), cells.size());
  return bytes;
}

std::string float_matrix_file(const Shape& shape, std::span<const float> cells) {
  std::string bytes = header(CellType::real, shape, range_of(cells));
  bytes.append(reinterpret_cast<const char*>(cells.data()), cells.size_bytes());
  return bytes;
}

std::string linear_matrix_file(const Shape& shape, std::span<const float> cells) {
  const Range range = range_of(cells);
  std::string bytes = header(CellType::linear, shape, range);
  for (const float x : cells) bytes += static_cast<char>(linear_byte(x, range));
  return bytes;
}

}  // namespace glass
