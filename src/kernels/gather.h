// Rows of a table by index, and their gradient.
#pragma once

#include <cstdint>

namespace glass::kernels {

// out row i = table row ids[i]; rows of `width` elements. The ids are in range (checked above).
template <class T>
void gather_rows(const T* table, int64_t width, const int64_t* ids, int64_t count, T* out);

// table row ids[i] += rows row i, for each id in order of i: the order of every sum is fixed.
template <class T>
void scatter_add_rows(const T* rows, int64_t width, const int64_t* ids, int64_t count, T* table);

}  // namespace glass::kernels
