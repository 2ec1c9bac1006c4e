// Sums and maxima over one axis of a dense [outer, n, inner] array. Orders of summation are fixed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace glass::kernels {

// out [outer, inner]
template <class T>
void sum_axis(const T* in, int64_t outer, int64_t n, int64_t inner, T* out);

// out [outer, inner] and the index of the first maximum; NaN counts as larger than every number. n > 0.
template <class T>
void max_axis(const T* in, int64_t outer, int64_t n, int64_t inner, T* out, int64_t* index);

// Σ of n numbers, by the calling thread.
float row_sum(const float* in, int64_t n);
double row_sum(const double* in, int64_t n);

// The sum of squares of all arrays, accumulated in double.
template <class T>
double squared_norm(const std::vector<std::span<const T>>& arrays);

}  // namespace glass::kernels
