// Element-wise arithmetic of two arrays that broadcast, and sums that undo a broadcast.
#pragma once

#include "kernels/copy.h"

namespace glass::kernels {

enum class Binary { add, sub, mul, div };

// out = a op b. The layouts of a and b have the extents of the dense output, and stride 0 where they broadcast.
template <class T>
void binary(Binary op, const T* a, const Layout& a_layout, const T* b, const Layout& b_layout, T* out);

// out += factor · in; dense, of `count` elements.
template <class T>
void accumulate(const T* in, int64_t count, T factor, T* out);

// out = in · factor + addend
template <class T>
void scale_add(const T* in, int64_t count, T factor, T addend, T* out);

// Sums a dense array of `extents` over the axes where out_layout has stride 0 (the gradient of a broadcast). The order
// of the sum is fixed: by index. out is overwritten.
template <class T>
void sum_to(const T* in, const Layout& out_layout, int64_t out_count, T* out);

// out = keep ? in : value; keep's layout broadcasts to the dense extents of in.
template <class T>
void masked_fill(const T* in, const bool* keep, const Layout& keep_layout, T value, T* out);

// Whether any of the elements is NaN or infinite.
template <class T>
bool any_non_finite(const T* in, int64_t count);

}  // namespace glass::kernels
