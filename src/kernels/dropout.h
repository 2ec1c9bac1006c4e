// Dropout whose draws are keyed by logical place (base/random.h), so that nothing need be saved for the backward pass and
// no layout changes what is dropped.
#pragma once

#include <cstdint>

namespace glass::kernels {

// A dense array [n0,n1,n2,n3]: example, and three indices within it.
struct DropoutPlace {
  uint64_t key = 0;
  uint64_t first_example = 0;
  int64_t extents[4] = {1, 1, 1, 1};
};

// y = x/(1−rate) with probability 1−rate, else 0. Of dy it gives dx.
template <class T>
void dropout(const T* x, const DropoutPlace& place, double rate, T* y);

}  // namespace glass::kernels
