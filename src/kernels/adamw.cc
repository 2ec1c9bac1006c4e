#include "kernels/adamw.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/adamw.cc"
#include <hwy/foreach_target.h>
// Highway includes this file once for each target, so what follows must come after.
#include <hwy/highway.h>

#ifndef GLASS_ADAMW_FACTORS
#define GLASS_ADAMW_FACTORS
namespace glass::kernels {

// A step's constants, worked out once.
struct AdamWFactors {
  explicit AdamWFactors(const AdamWStep& o)
      : step_size(static_cast<float>(o.lr / (1 - std::pow(o.beta1, static_cast<double>(o.step))))),
        correction2(static_cast<float>(1 / std::sqrt(1 - std::pow(o.beta2, static_cast<double>(o.step))))),
        keep(static_cast<float>(1 - o.lr * o.weight_decay)),
        beta1(static_cast<float>(o.beta1)),
        beta2(static_cast<float>(o.beta2)),
        rest1(static_cast<float>(1 - o.beta1)),
        rest2(static_cast<float>(1 - o.beta2)),
        epsilon(static_cast<float>(o.epsilon)),
        scale(static_cast<float>(o.grad_scale)) {}
  float step_size, correction2, keep, beta1, beta2, rest1, rest2, epsilon, scale;
};

}  // namespace glass::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace glass::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class D, class V>
HWY_INLINE void update(D d, const AdamWFactors& f, V grad, V& parameter, V& m, V& v) {
  const auto g = hn::Mul(grad, hn::Set(d, f.scale));
  m = hn::MulAdd(hn::Set(d, f.beta1), m, hn::Mul(hn::Set(d, f.rest1), g));
  v = hn::MulAdd(hn::Set(d, f.beta2), v, hn::Mul(hn::Set(d, f.rest2), hn::Mul(g, g)));
  const auto divisor = hn::MulAdd(hn::Sqrt(v), hn::Set(d, f.correction2), hn::Set(d, f.epsilon));
  const auto step = hn::Div(hn::Mul(hn::Set(d, f.step_size), m), divisor);
  parameter = hn::Sub(hn::Mul(hn::Set(d, f.keep), parameter), step);
}

void adamw_lanes(const AdamWFactors& f, const float* grad, int64_t count, float* parameter, float* m, float* v) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    auto p = hn::LoadU(d, parameter + i), first = hn::LoadU(d, m + i), second = hn::LoadU(d, v + i);
    update(d, f, hn::LoadU(d, grad + i), p, first, second);
    hn::StoreU(p, d, parameter + i);
    hn::StoreU(first, d, m + i);
    hn::StoreU(second, d, v + i);
  }
  const hn::CappedTag<float, 1> one;
  for (; i < count; ++i) {
    auto p = hn::Set(one, parameter[i]), first = hn::Set(one, m[i]), second = hn::Set(one, v[i]);
    update(one, f, hn::Set(one, grad[i]), p, first, second);
    parameter[i] = hn::GetLane(p);
    m[i] = hn::GetLane(first);
    v[i] = hn::GetLane(second);
  }
}

}  // namespace glass::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/chunks.h"
#include "kernels/dispatch.h"

namespace glass::kernels {

HWY_EXPORT(adamw_lanes);

void adamw(const AdamWStep& options, const std::vector<AdamWArrays>& arrays) {
  const auto lanes = GLASS_DISPATCH(adamw_lanes);
  const AdamWFactors factors(options);
  std::vector<int64_t> counts;
  for (const AdamWArrays& a : arrays) counts.push_back(a.count);
  for_each_chunk(chunks_of(counts), [&](const Chunk& c, size_t) {
    const AdamWArrays& a = arrays[c.array];
    lanes(factors, a.grad + c.begin, c.end - c.begin, a.parameter + c.begin, a.m + c.begin, a.v + c.begin);
  });
}

}  // namespace glass::kernels
#endif
