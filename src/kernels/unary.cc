// float32 through Highway, float64 by the definition.
#include "kernels/unary.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/unary.cc"
#include <hwy/foreach_target.h>
// Highway includes this file once for each target, so what follows must come after.
#include <hwy/highway.h>

#include "kernels/unary_lanes.h"

HWY_BEFORE_NAMESPACE();
namespace glass::kernels::HWY_NAMESPACE {

template <Unary f>
void map_lanes(const float* x, int64_t count, float* y) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(value<f>(d, hn::LoadU(d, x + i)), d, y + i);
  if (i == count) return;
  HWY_ALIGN float rest[hn::MaxLanes(d)] = {};
  for (int64_t j = i; j < count; ++j) rest[j - i] = x[j];
  hn::Store(value<f>(d, hn::Load(d, rest)), d, rest);
  for (int64_t j = i; j < count; ++j) y[j] = rest[j - i];
}

template <Unary f>
void map_derivative_lanes(const float* dy, const float* saved, int64_t count, float* dx) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    hn::StoreU(hn::Mul(hn::LoadU(d, dy + i), slope<f>(d, hn::LoadU(d, saved + i))), d, dx + i);
  }
  if (i == count) return;
  HWY_ALIGN float rest[hn::MaxLanes(d)] = {};
  for (int64_t j = i; j < count; ++j) rest[j - i] = saved[j];
  hn::Store(slope<f>(d, hn::Load(d, rest)), d, rest);
  for (int64_t j = i; j < count; ++j) dx[j] = dy[j] * rest[j - i];
}

void unary_lanes(Unary f, const float* x, int64_t count, float* y) {
  switch (f) {
    case Unary::exp:
      return map_lanes<Unary::exp>(x, count, y);
    case Unary::log:
      return map_lanes<Unary::log>(x, count, y);
    case Unary::sqrt:
      return map_lanes<Unary::sqrt>(x, count, y);
    case Unary::tanh:
      return map_lanes<Unary::tanh>(x, count, y);
    case Unary::sigmoid:
      return map_lanes<Unary::sigmoid>(x, count, y);
    case Unary::gelu:
      return map_lanes<Unary::gelu>(x, count, y);
    case Unary::gelu_tanh:
      return map_lanes<Unary::gelu_tanh>(x, count, y);
  }
}

void unary_backward_lanes(Unary f, const float* dy, const float* saved, int64_t count, float* dx) {
  switch (f) {
    case Unary::exp:
      return map_derivative_lanes<Unary::exp>(dy, saved, count, dx);
    case Unary::log:
      return map_derivative_lanes<Unary::log>(dy, saved, count, dx);
    case Unary::sqrt:
      return map_derivative_lanes<Unary::sqrt>(dy, saved, count, dx);
    case Unary::tanh:
      return map_derivative_lanes<Unary::tanh>(dy, saved, count, dx);
    case Unary::sigmoid:
      return map_derivative_lanes<Unary::sigmoid>(dy, saved, count, dx);
    case Unary::gelu:
      return map_derivative_lanes<Unary::gelu>(dy, saved, count, dx);
    case Unary::gelu_tanh:
      return map_derivative_lanes<Unary::gelu_tanh>(dy, saved, count, dx);
  }
}

}  // namespace glass::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/dispatch.h"
#include "kernels/strided.h"

namespace glass::kernels {

HWY_EXPORT(unary_lanes);
HWY_EXPORT(unary_backward_lanes);

void unary(Unary f, const float* x, int64_t count, float* y) {
  const auto lanes = GLASS_DISPATCH(unary_lanes);
  parallel_for(count, element_chunk, [&](int64_t begin, int64_t end) { lanes(f, x + begin, end - begin, y + begin); });
}

void unary(Unary f, const double* x, int64_t count, double* y) {
  parallel_for(count, element_chunk, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) y[i] = plain::unary(f, x[i]);
  });
}

void unary_backward(Unary f, const float* dy, const float* saved, int64_t count, float* dx) {
  const auto lanes = GLASS_DISPATCH(unary_backward_lanes);
  parallel_for(count, element_chunk,
               [&](int64_t begin, int64_t end) { lanes(f, dy + begin, saved + begin, end - begin, dx + begin); });
}

void unary_backward(Unary f, const double* dy, const double* saved, int64_t count, double* dx) {
  parallel_for(count, element_chunk, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) dx[i] = dy[i] * plain::derivative(f, saved[i]);
  });
}

}  // namespace glass::kernels
#endif
