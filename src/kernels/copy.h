// Copies of strided arrays with conversion of element types.
#pragma once

#include <array>
#include <cstdint>

#include "glassformer/base/bfloat16.h"

namespace glass::kernels {

// Extents and strides, in elements, outermost first. A stride may be 0 (broadcast) where it is read only.
struct Layout {
  static constexpr int max_rank = 8;
  int rank = 0;
  std::array<int64_t, max_rank> extents{};
  std::array<int64_t, max_rank> strides{};

  int64_t count() const {
    int64_t total = 1;
    for (int axis = 0; axis < rank; ++axis) total *= extents[axis];
    return total;
  }
};

// Both layouts have the same extents. To bool: whether the number is not 0. To bf16: rounded to nearest, ties to even.
// From floating to integer: towards 0. The arrays must not overlap unless they are the same.
template <class From, class To>
void copy(const From* from, const Layout& from_layout, To* to, const Layout& to_layout);

}  // namespace glass::kernels
