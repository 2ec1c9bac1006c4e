// Row primitives shared by the softmax and cross-entropy kernels, once for each of Highway's targets: included inside
// HWY_NAMESPACE files only, after hwy/contrib/math/math-inl.h.
#if defined(GLASS_SOFTMAX_LANES_H) == defined(HWY_TARGET_TOGGLE)
#ifdef GLASS_SOFTMAX_LANES_H
#undef GLASS_SOFTMAX_LANES_H
#else
#define GLASS_SOFTMAX_LANES_H
#endif

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <cmath>
#include <limits>

#include "kernels/row_lanes.h"

HWY_BEFORE_NAMESPACE();
namespace glass::kernels::HWY_NAMESPACE {

// The largest of n numbers; NaN if one is NaN (a sum of zeros times the numbers would not see it).
HWY_INLINE float row_max(const float* x, int64_t n) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  float largest = -std::numeric_limits<float>::infinity();
  int64_t j = 0;
  if (n >= lanes) {
    auto v = hn::LoadU(d, x);
    auto ordered = hn::Eq(v, v);
    for (j = lanes; j + lanes <= n; j += lanes) {
      const auto next = hn::LoadU(d, x + j);
      ordered = hn::And(ordered, hn::Eq(next, next));
      v = hn::Max(v, next);
    }
    if (!hn::AllTrue(d, ordered)) return std::numeric_limits<float>::quiet_NaN();
    largest = hn::GetLane(hn::MaxOfLanes(d, v));
  }
  for (; j < n; ++j) {
    if (!(x[j] <= largest)) largest = x[j];
    if (std::isnan(largest)) return largest;
  }
  return largest;
}

// y = keep ? x : value
HWY_INLINE void mask_row(const float* x, int64_t n, const bool* keep, float value, float* y) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<uint32_t, decltype(d)> wide;
  const hn::Rebind<uint8_t, decltype(d)> narrow;
  const auto* bytes = reinterpret_cast<const uint8_t*>(keep);
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t j = 0;
  for (; j + lanes <= n; j += lanes) {
    const auto kept = hn::Ne(hn::PromoteTo(wide, hn::LoadU(narrow, bytes + j)), hn::Zero(wide));
    hn::StoreU(hn::IfThenElse(hn::RebindMask(d, kept), hn::LoadU(d, x + j), hn::Set(d, value)), d, y + j);
  }
  for (; j < n; ++j) y[j] = keep[j] ? x[j] : value;
}

// y = exp(x − shift), and its sum. y may be x; nullptr stores nothing.
HWY_INLINE float exp_and_sum(const float* x, int64_t n, float shift, float* y) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto shifts = hn::Set(d, shift);
  auto sums = hn::Zero(d);
  int64_t j = 0;
  for (; j + lanes <= n; j += lanes) {
    const auto e = hn::Exp(d, hn::Sub(hn::LoadU(d, x + j), shifts));
    if (y != nullptr) hn::StoreU(e, d, y + j);
    sums = hn::Add(sums, e);
  }
  if (j < n) {
    HWY_ALIGN float rest[hn::MaxLanes(d)];
    for (int64_t i = 0; i < lanes; ++i) rest[i] = i < n - j ? x[j + i] : -std::numeric_limits<float>::infinity();
    const auto e =
        hn::IfThenElseZero(hn::FirstN(d, static_cast<size_t>(n - j)), hn::Exp(d, hn::Sub(hn::Load(d, rest), shifts)));
    sums = hn::Add(sums, e);
    hn::Store(e, d, rest);
    for (int64_t i = j; y != nullptr && i < n; ++i) y[i] = rest[i - j];
  }
  return hn::GetLane(hn::SumOfLanes(d, sums));
}

HWY_INLINE void scale_row(float* y, int64_t n, float factor) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t j = 0;
  for (; j + lanes <= n; j += lanes) hn::StoreU(hn::Mul(hn::LoadU(d, y + j), hn::Set(d, factor)), d, y + j);
  for (; j < n; ++j) y[j] *= factor;
}

}  // namespace glass::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
