#include "kernels/elementwise.h"

#include <atomic>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "kernels/reduce.h"
#include "kernels/strided.h"

namespace glass::kernels {

namespace {

Layout dense_like(const Layout& layout) {
  Layout out = layout;
  int64_t stride = 1;
  for (int axis = out.rank - 1; axis >= 0; --axis) {
    out.strides[axis] = stride;
    stride *= std::max<int64_t>(1, out.extents[axis]);
  }
  return out;
}

template <class T, class Op>
void binary_rows(const T* a, const Layout& a_layout, const T* b, const Layout& b_layout, T* out, Op op) {
  const Layout out_layout = dense_like(a_layout);
  const auto walk = merge_axes<3>({&a_layout, &b_layout, &out_layout});
  for_each_row(walk, [&](const auto& offsets, const auto& strides, int64_t count) {
    const T* x = a + offsets[0];
    const T* y = b + offsets[1];
    T* z = out + offsets[2];
    if (strides[0] == 1 && strides[1] == 1) {
      for (int64_t i = 0; i < count; ++i) z[i] = op(x[i], y[i]);
    } else if (strides[0] == 1 && strides[1] == 0) {
      const T constant = *y;
      for (int64_t i = 0; i < count; ++i) z[i] = op(x[i], constant);
    } else {
      for (int64_t i = 0; i < count; ++i) z[i] = op(x[i * strides[0]], y[i * strides[1]]);
    }
  });
}

}  // namespace

template <class T>
void binary(Binary op, const T* a, const Layout& a_layout, const T* b, const Layout& b_layout, T* out) {
  switch (op) {
    case Binary::add:
      return binary_rows(a, a_layout, b, b_layout, out, [](T x, T y) { return x + y; });
    case Binary::sub:
      return binary_rows(a, a_layout, b, b_layout, out, [](T x, T y) { return x - y; });
    case Binary::mul:
      return binary_rows(a, a_layout, b, b_layout, out, [](T x, T y) { return x * y; });
    case Binary::div:
      return binary_rows(a, a_layout, b, b_layout, out, [](T x, T y) { return x / y; });
  }
}

template <class T>
void accumulate(const T* in, int64_t count, T factor, T* out) {
  parallel_for(count, element_chunk, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) out[i] += factor * in[i];
  });
}

template <class T>
void scale_add(const T* in, int64_t count, T factor, T addend, T* out) {
  parallel_for(count, element_chunk, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) out[i] = in[i] * factor + addend;
  });
}

namespace {

// Neighbouring axes that are all summed, or all kept, as one.
struct SummedAxes {
  int rank = 0;
  std::array<int64_t, Layout::max_rank> extents{};
  std::array<bool, Layout::max_rank> summed{};
};

SummedAxes merge_summed(const Layout& out_layout) {
  SummedAxes axes;
  for (int axis = 0; axis < out_layout.rank; ++axis) {
    if (out_layout.extents[axis] == 1) continue;
    const bool summed = out_layout.strides[axis] == 0;
    if (axes.rank == 0 || axes.summed[axes.rank - 1] != summed) {
      axes.summed[axes.rank] = summed;
      axes.extents[axes.rank++] = 1;
    }
    axes.extents[axes.rank - 1] *= out_layout.extents[axis];
  }
  return axes;
}

int64_t product(const std::array<int64_t, Layout::max_rank>& extents, int from, int to) {
  return std::accumulate(extents.begin() + from, extents.begin() + to, int64_t{1}, std::multiplies<>());
}

}  // namespace

template <class T>
void sum_to(const T* in, const Layout& out_layout, int64_t out_count, T* out) {
  SummedAxes axes = merge_summed(out_layout);
  std::vector<T> left, summed;  // what is left to sum, and one axis less of it
  bool done = false;
  for (int axis = 0; axis < axes.rank; ++axis) {
    if (!axes.summed[axis]) continue;
    const int64_t outer = product(axes.extents, 0, axis), inner = product(axes.extents, axis + 1, axes.rank);
    const int64_t n = std::exchange(axes.extents[axis], 1);
    done = outer * inner == out_count;
    if (!done) summed.resize(static_cast<size_t>(outer * inner));
    sum_axis(left.empty() ? in : left.data(), outer, n, inner, done ? out : summed.data());
    if (done) break;
    left.swap(summed);
  }
  if (!done) std::copy_n(in, out_count, out);
}

template <class T>
void masked_fill(const T* in, const bool* keep, const Layout& keep_layout, T value, T* out) {
  const Layout dense = dense_like(keep_layout);
  const auto walk = merge_axes<2>({&dense, &keep_layout});
  for_each_row(walk, [&](const auto& offsets, const auto& strides, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      const int64_t place = offsets[0] + i * strides[0];
      out[place] = keep[offsets[1] + i * strides[1]] ? in[place] : value;
    }
  });
}

template <class T>
bool any_non_finite(const T* in, int64_t count) {
  std::atomic<bool> found{false};
  parallel_for(count, element_chunk, [&](int64_t begin, int64_t end) {
    T zeros[16] = {};  // 0·x is NaN where x is not finite; independent sums, so that they fit vectors
    int64_t i = begin;
    for (; i + 16 <= end; i += 16) {
      for (int lane = 0; lane < 16; ++lane) zeros[lane] += in[i + lane] * 0;
    }
    for (; i < end; ++i) zeros[0] += in[i] * 0;
    if (std::accumulate(zeros, zeros + 16, T{0}) != 0) found = true;
  });
  return found;
}

#define GLASS_INSTANTIATE(T)                                                          \
  template void binary(Binary, const T*, const Layout&, const T*, const Layout&, T*); \
  template void accumulate(const T*, int64_t, T, T*);                                 \
  template void scale_add(const T*, int64_t, T, T, T*);                               \
  template void sum_to(const T*, const Layout&, int64_t, T*);                         \
  template void masked_fill(const T*, const bool*, const Layout&, T, T*);             \
  template bool any_non_finite(const T*, int64_t);
GLASS_INSTANTIATE(float)
GLASS_INSTANTIATE(double)

}  // namespace glass::kernels
