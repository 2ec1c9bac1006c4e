#include "kernels/softmax.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/softmax.cc"
#include <hwy/foreach_target.h>
// Highway includes this file once for each target, so what follows must come after.
#include <hwy/highway.h>

#include "kernels/softmax_lanes.h"

HWY_BEFORE_NAMESPACE();
namespace glass::kernels::HWY_NAMESPACE {

// A masked entry becomes −∞ first, so that one loop serves both kinds.
void softmax_row_lanes(const float* x, int64_t n, const bool* keep, int64_t keep_stride, float* y) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  if (keep != nullptr && keep_stride == 1) {
    mask_row(x, n, keep, -infinity, y);
    x = y;
  } else if (keep != nullptr) {
    for (int64_t j = 0; j < n; ++j) y[j] = keep[j * keep_stride] ? x[j] : -infinity;
    x = y;
  }
  const float largest = row_max(x, n);
  if (std::isfinite(largest)) {
    scale_row(y, n, 1 / exp_and_sum(x, n, largest, y));
    return;
  }
  // −∞: nothing is kept, or nothing but −∞, which gives zeros. NaN or +∞: no kept entry has a value.
  for (int64_t j = 0; j < n; ++j) {
    const bool kept = keep == nullptr || keep[j * keep_stride];
    y[j] = kept && largest != -infinity ? std::numeric_limits<float>::quiet_NaN() : 0;
  }
}

void softmax_backward_row_lanes(const float* dy, const float* y, int64_t n, float* dx) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  auto sums = hn::Zero(d);
  int64_t j = 0;
  for (; j + lanes <= n; j += lanes) sums = hn::MulAdd(hn::LoadU(d, dy + j), hn::LoadU(d, y + j), sums);
  float sum = hn::GetLane(hn::SumOfLanes(d, sums));
  for (; j < n; ++j) sum += dy[j] * y[j];
  for (j = 0; j + lanes <= n; j += lanes) {
    const auto centred = hn::Sub(hn::LoadU(d, dy + j), hn::Set(d, sum));
    hn::StoreU(hn::Mul(hn::LoadU(d, y + j), centred), d, dx + j);
  }
  for (; j < n; ++j) dx[j] = y[j] * (dy[j] - sum);
}

float log_sum_exp_lanes(const float* x, int64_t n) {
  const float largest = row_max(x, n);
  if (!std::isfinite(largest)) return largest;
  return largest + std::log(exp_and_sum(x, n, largest, nullptr));
}

}  // namespace glass::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/dispatch.h"
#include "kernels/strided.h"

namespace glass::kernels {

HWY_EXPORT(softmax_row_lanes);
HWY_EXPORT(softmax_backward_row_lanes);
HWY_EXPORT(log_sum_exp_lanes);

namespace {

int64_t rows_per_chunk(int64_t n) { return std::max<int64_t>(1, element_chunk / std::max<int64_t>(1, n)); }

template <class Row>
void for_each_softmax_row(int64_t rows, int64_t n, Row row) {
  parallel_for(rows, rows_per_chunk(n), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) row(r);
  });
}

}  // namespace

void softmax(const float* x, int64_t rows, int64_t n, const KeepRows& keep, float* y) {
  const auto lanes = GLASS_DISPATCH(softmax_row_lanes);
  for_each_softmax_row(rows, n, [&](int64_t r) { lanes(x + r * n, n, keep.row(r), keep.column_stride, y + r * n); });
}

void softmax(const double* x, int64_t rows, int64_t n, const KeepRows& keep, double* y) {
  for_each_softmax_row(
      rows, n, [&](int64_t r) { plain::softmax_row(x + r * n, n, keep.row(r), keep.column_stride, y + r * n); });
}

template <>
void softmax_backward(const float* dy, const float* y, int64_t rows, int64_t n, float* dx) {
  const auto lanes = GLASS_DISPATCH(softmax_backward_row_lanes);
  for_each_softmax_row(rows, n, [&](int64_t r) { lanes(dy + r * n, y + r * n, n, dx + r * n); });
}

template <>
void softmax_backward(const double* dy, const double* y, int64_t rows, int64_t n, double* dx) {
  for_each_softmax_row(rows, n, [&](int64_t r) {
    double sum = 0;
    for (int64_t j = r * n; j < (r + 1) * n; ++j) sum += dy[j] * y[j];
    for (int64_t j = r * n; j < (r + 1) * n; ++j) dx[j] = y[j] * (dy[j] - sum);
  });
}

float log_sum_exp(const float* x, int64_t n) { return GLASS_DISPATCH(log_sum_exp_lanes)(x, n); }
double log_sum_exp(const double* x, int64_t n) { return plain::log_sum_exp(x, n); }

template <class T>
void log_softmax(const T* x, int64_t rows, int64_t n, T* y) {
  for_each_softmax_row(rows, n, [&](int64_t r) {
    const T normaliser = log_sum_exp(x + r * n, n);
    for (int64_t j = r * n; j < (r + 1) * n; ++j) y[j] = x[j] - normaliser;
  });
}

template <class T>
void log_softmax_backward(const T* dy, const T* y, int64_t rows, int64_t n, T* dx) {
  for_each_softmax_row(rows, n, [&](int64_t r) {
    T sum = 0;
    for (int64_t j = r * n; j < (r + 1) * n; ++j) sum += dy[j];
    for (int64_t j = r * n; j < (r + 1) * n; ++j) dx[j] = dy[j] - std::exp(y[j]) * sum;
  });
}

template void log_softmax(const float*, int64_t, int64_t, float*);
template void log_softmax(const double*, int64_t, int64_t, double*);
template void log_softmax_backward(const float*, const float*, int64_t, int64_t, float*);
template void log_softmax_backward(const double*, const double*, int64_t, int64_t, double*);

}  // namespace glass::kernels
#endif
