// plain::unary and plain::derivative on a vector of float32, once for each of Highway's targets: included inside
// HWY_NAMESPACE files only.
#if defined(GLASS_UNARY_LANES_H) == defined(HWY_TARGET_TOGGLE)
#ifdef GLASS_UNARY_LANES_H
#undef GLASS_UNARY_LANES_H
#else
#define GLASS_UNARY_LANES_H
#endif

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <limits>

#include "kernels/unary.h"

HWY_BEFORE_NAMESPACE();
namespace glass::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Highway's own are undefined beyond the range of float32.
template <class D, class V>
HWY_INLINE V exp_of(D d, V x) {
  const auto infinity = hn::Set(d, std::numeric_limits<float>::infinity());
  const auto e = hn::Exp(d, x);
  return hn::IfThenElse(hn::Gt(x, hn::Set(d, 88.72284f)), infinity, hn::IfThenElse(hn::Eq(x, x), e, x));
}

template <class D, class V>
HWY_INLINE V tanh_of(D d, V x) {
  return hn::IfThenElse(hn::Eq(x, x), hn::Tanh(d, x), x);
}

// 0 has the logarithm −∞, and +∞ itself; below 0 there is none.
template <class D, class V>
HWY_INLINE V log_of(D d, V x) {
  const auto infinity = hn::Set(d, std::numeric_limits<float>::infinity()), zero = hn::Zero(d);
  const auto inside = hn::IfThenElse(hn::Eq(x, infinity), infinity, hn::Log(d, x));
  const auto outside =
      hn::IfThenElse(hn::Eq(x, zero), hn::Neg(infinity), hn::Set(d, std::numeric_limits<float>::quiet_NaN()));
  return hn::IfThenElse(hn::Gt(x, zero), inside, outside);
}

// Φ(x), the normal distribution's cumulative function, and exp(−x²/2), which it is made of.
template <class D, class V>
HWY_INLINE V normal_cumulative(D d, V x, V& bell) {
  // erfc(z) = exp(−z²)·t·R(t) with t = 1/(1 + z/2) and z = |x|/√2: so small values keep their digits. R interpolates
  // erfc(z)·exp(z²)/t at Chebyshev's points of t in [0.15,1], to 6·10⁻⁸ of the value.
  constexpr float coefficients[] = {0.2820853889f, 0.2823887765f,  0.2430455089f, 0.2027409524f, -0.0263095163f,
                                    0.2769470513f, -0.4856436253f, 0.2835501730f, -0.0588047877f};
  const auto one = hn::Set(d, 1.0f);
  bell = exp_of(d, hn::Mul(hn::Mul(x, x), hn::Set(d, -0.5f)));
  const auto t = hn::Div(one, hn::MulAdd(hn::Abs(x), hn::Set(d, 0.35355339059f), one));
  auto r = hn::Set(d, coefficients[8]);
  for (int power = 7; power >= 0; --power) r = hn::MulAdd(r, t, hn::Set(d, coefficients[power]));
  const auto tail = hn::Mul(hn::Mul(hn::Set(d, 0.5f), bell), hn::Mul(t, r));  // Φ(−|x|)
  return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), tail, hn::Sub(one, tail));
}

template <class D, class V>
HWY_INLINE V gelu_tanh_inside(D d, V x) {
  const auto cubic = hn::MulAdd(hn::Mul(hn::Set(d, plain::gelu_cubic<float>), x), hn::Mul(x, x), x);
  return tanh_of(d, hn::Mul(hn::Set(d, plain::gelu_slope<float>), cubic));
}

template <Unary f, class D, class V>
HWY_INLINE V value(D d, V x) {
  const auto one = hn::Set(d, 1.0f);
  if constexpr (f == Unary::exp) return exp_of(d, x);
  if constexpr (f == Unary::log) return log_of(d, x);
  if constexpr (f == Unary::sqrt) return hn::Sqrt(x);
  if constexpr (f == Unary::tanh) return tanh_of(d, x);
  if constexpr (f == Unary::sigmoid) return hn::Div(one, hn::Add(one, exp_of(d, hn::Neg(x))));
  if constexpr (f == Unary::gelu) {
    auto bell = x;
    return hn::Mul(x, normal_cumulative(d, x, bell));
  }
  if constexpr (f == Unary::gelu_tanh) {
    return hn::Mul(hn::Mul(hn::Set(d, 0.5f), x), hn::Add(one, gelu_tanh_inside(d, x)));
  }
}

// f'(x), in terms of y or x as derivative_needs_output() says.
template <Unary f, class D, class V>
HWY_INLINE V slope(D d, V saved) {
  const auto one = hn::Set(d, 1.0f), half = hn::Set(d, 0.5f);
  if constexpr (f == Unary::exp) return saved;
  if constexpr (f == Unary::log) return hn::Div(one, saved);
  if constexpr (f == Unary::sqrt) return hn::Div(half, saved);
  if constexpr (f == Unary::tanh) return hn::NegMulAdd(saved, saved, one);
  if constexpr (f == Unary::sigmoid) return hn::Mul(saved, hn::Sub(one, saved));
  if constexpr (f == Unary::gelu) {  // Φ(x) + x·exp(−x²/2)/√(2π)
    auto bell = saved;
    const auto cumulative = normal_cumulative(d, saved, bell);
    return hn::MulAdd(hn::Mul(saved, hn::Set(d, 0.39894228040f)), bell, cumulative);
  }
  if constexpr (f == Unary::gelu_tanh) {
    const auto t = gelu_tanh_inside(d, saved);
    const auto inside_slope = hn::Mul(hn::Set(d, plain::gelu_slope<float>),
                                      hn::MulAdd(hn::Mul(saved, saved), hn::Set(d, 3 * plain::gelu_cubic<float>), one));
    const auto bent = hn::Mul(hn::NegMulAdd(t, t, one), inside_slope);
    return hn::Mul(half, hn::MulAdd(saved, bent, hn::Add(one, t)));
  }
}

}  // namespace glass::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
