#include "kernels/elementwise.h"

#include <atomic>
#include <cmath>

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
    case Binary::add: return binary_rows(a, a_layout, b, b_layout, out, [](T x, T y) { return x + y; });
    case Binary::sub: return binary_rows(a, a_layout, b, b_layout, out, [](T x, T y) { return x - y; });
    case Binary::mul: return binary_rows(a, a_layout, b, b_layout, out, [](T x, T y) { return x * y; });
    case Binary::div: return binary_rows(a, a_layout, b, b_layout, out, [](T x, T y) { return x / y; });
  }
}

template <class T>
void accumulate(const T* in, int64_t count, T* out) {
  parallel_for(count, element_chunk, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) out[i] += in[i];
  });
}

template <class T>
void scale_add(const T* in, int64_t count, T factor, T addend, T* out) {
  parallel_for(count, element_chunk, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) out[i] = in[i] * factor + addend;
  });
}

namespace {

// [rows, columns] -> [columns]: the frequent case, a bias. Rows are summed in fixed chunks, the chunks in order.
template <class T>
void sum_rows(const T* in, int64_t rows, int64_t columns, T* out) {
  constexpr int64_t column_chunk = 256;
  parallel_for(columns, column_chunk, [&](int64_t begin, int64_t end) {
    std::fill(out + begin, out + end, T{0});
    for (int64_t row = 0; row < rows; ++row) {
      const T* source = in + row * columns;
      for (int64_t j = begin; j < end; ++j) out[j] += source[j];
    }
  });
}

// Whether the leading axes are summed and the trailing ones kept dense.
bool is_row_sum(const Layout& layout, int64_t out_count, int64_t& rows) {
  int axis = layout.rank;
  int64_t dense = 1;
  while (axis > 0 && (layout.extents[axis - 1] == 1 || layout.strides[axis - 1] == dense) && dense < out_count) {
    dense *= layout.extents[--axis];
  }
  rows = 1;
  for (int leading = 0; leading < axis; ++leading) {
    if (layout.strides[leading] != 0 && layout.extents[leading] != 1) return false;
    rows *= layout.extents[leading];
  }
  return dense == out_count;
}

}  // namespace

template <class T>
void sum_to(const T* in, const Layout& out_layout, int64_t out_count, T* out) {
  int64_t rows = 0;
  if (is_row_sum(out_layout, out_count, rows)) return sum_rows(in, rows, out_count, out);
  std::fill(out, out + out_count, T{0});
  const int64_t count = out_layout.count();
  std::array<int64_t, Layout::max_rank> index{};
  int64_t place = 0;
  for (int64_t i = 0; i < count; ++i) {
    out[place] += in[i];
    for (int axis = out_layout.rank - 1; axis >= 0; --axis) {
      place += out_layout.strides[axis];
      if (++index[axis] < out_layout.extents[axis]) break;
      place -= out_layout.strides[axis] * out_layout.extents[axis];
      index[axis] = 0;
    }
  }
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
    bool bad = false;
    for (int64_t i = begin; i < end; ++i) bad |= !(std::abs(in[i]) <= std::numeric_limits<T>::max());
    if (bad) found = true;
  });
  return found;
}

#define GLASS_INSTANTIATE(T)                                                                     \
  template void binary(Binary, const T*, const Layout&, const T*, const Layout&, T*);            \
  template void accumulate(const T*, int64_t, T*);                                               \
  template void scale_add(const T*, int64_t, T, T, T*);                                          \
  template void sum_to(const T*, const Layout&, int64_t, T*);                                    \
  template void masked_fill(const T*, const bool*, const Layout&, T, T*);                        \
  template bool any_non_finite(const T*, int64_t);
GLASS_INSTANTIATE(float)
GLASS_INSTANTIATE(double)

}  // namespace glass::kernels
