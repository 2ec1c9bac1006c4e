// float32 through Highway, float64 by the definition.
#include "kernels/kept.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/kept.cc"
#include <hwy/foreach_target.h>
// Highway includes this file once for each target, so what follows must come after.
#include <hwy/highway.h>

#include "kernels/kept_lanes.h"

HWY_BEFORE_NAMESPACE();
namespace glass::kernels::HWY_NAMESPACE {

void where_kept_float(const float* x, const uint64_t* kept, int64_t rows, int64_t n, float scale, float* y) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto factor = hn::Set(d, scale);
  for (int64_t row = 0; row < rows; ++row, x += n, y += n) {
    for (int64_t begin = 0; begin < n; begin += 64) {
      const int64_t end = HWY_MIN(n, begin + 64);
      uint64_t bits = *kept++;
      int64_t at = begin;
      for (; at + lanes <= end; at += lanes) {
        hn::StoreU(hn::IfThenElseZero(mask_of(d, bits), hn::Mul(hn::LoadU(d, x + at), factor)), d, y + at);
        bits = lanes < 64 ? bits >> lanes : 0;
      }
      for (; at < end; ++at, bits >>= 1) y[at] = bits & 1 ? x[at] * scale : 0;
    }
  }
}

void relu_float(const float* x, int64_t rows, int64_t n, float* y, uint64_t* kept) {
  const hn::ScalableTag<float> d;
  const auto zero = hn::Zero(d);
  for (int64_t row = 0; row < rows; ++row, x += n, y += n) {
    const auto vector = [&](int64_t at) HWY_ATTR {
      const auto value = hn::LoadU(d, x + at);
      hn::StoreU(hn::IfThenElse(hn::Le(value, zero), zero, value), d, y + at);
      return bits_of(d, hn::Gt(value, zero));
    };
    const auto element = [&](int64_t at) {
      y[at] = x[at] <= 0 ? 0 : x[at];
      return x[at] > 0;
    };
    gather_bits(n, static_cast<int64_t>(hn::Lanes(d)), vector, element, [&](int64_t number, uint64_t bits) {
      if (kept != nullptr) kept[row * kept_words(n) + number] = bits;
    });
  }
}

}  // namespace glass::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/dispatch.h"
#include "kernels/strided.h"

namespace glass::kernels {

HWY_EXPORT(where_kept_float);
HWY_EXPORT(relu_float);

namespace {

void where_kept_rows(const float* x, const uint64_t* kept, int64_t rows, int64_t n, double scale, float* y) {
  GLASS_DISPATCH(where_kept_float)(x, kept, rows, n, static_cast<float>(scale), y);
}

void where_kept_rows(const double* x, const uint64_t* kept, int64_t rows, int64_t n, double scale, double* y) {
  plain::where_kept(x, kept, rows, n, scale, y);
}

void relu_rows(const float* x, int64_t rows, int64_t n, float* y, uint64_t* kept) {
  GLASS_DISPATCH(relu_float)(x, rows, n, y, kept);
}

void relu_rows(const double* x, int64_t rows, int64_t n, double* y, uint64_t* kept) {
  plain::relu(x, rows, n, y, kept);
}

template <class Rows>
void for_rows(int64_t rows, int64_t n, Rows some_rows) {
  if (n > 0) parallel_for(rows, std::max<int64_t>(1, element_chunk / n), some_rows);
}

}  // namespace

template <class T>
void where_kept(const T* x, const uint64_t* kept, int64_t rows, int64_t n, double scale, T* y) {
  for_rows(rows, n, [&](int64_t begin, int64_t end) {
    where_kept_rows(x + begin * n, kept + begin * kept_words(n), end - begin, n, scale, y + begin * n);
  });
}

template <class T>
void relu(const T* x, int64_t rows, int64_t n, T* y, uint64_t* kept) {
  for_rows(rows, n, [&](int64_t begin, int64_t end) {
    relu_rows(x + begin * n, end - begin, n, y + begin * n, kept != nullptr ? kept + begin * kept_words(n) : nullptr);
  });
}

template void where_kept(const float*, const uint64_t*, int64_t, int64_t, double, float*);
template void where_kept(const double*, const uint64_t*, int64_t, int64_t, double, double*);
template void relu(const float*, int64_t, int64_t, float*, uint64_t*);
template void relu(const double*, int64_t, int64_t, double*, uint64_t*);

}  // namespace glass::kernels
#endif
