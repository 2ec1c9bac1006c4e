// float32 through Highway where a vector version of the function exists; the rest is the definition, element by element.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/unary.cc"
#include <hwy/foreach_target.h>
// Highway includes this file once for each target, so what follows must come after.
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include "kernels/unary.h"

HWY_BEFORE_NAMESPACE();
namespace glass::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class F>
void map_lanes(const float* x, int64_t count, float* y, F f) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(f(d, hn::LoadU(d, x + i)), d, y + i);
  if (i == count) return;
  HWY_ALIGN float rest[hn::MaxLanes(d)] = {};
  for (int64_t j = i; j < count; ++j) rest[j - i] = x[j];
  hn::Store(f(d, hn::Load(d, rest)), d, rest);
  for (int64_t j = i; j < count; ++j) y[j] = rest[j - i];
}

void exp_lanes(const float* x, int64_t count, float* y) {
  map_lanes(x, count, y, [](auto d, auto v) { return hn::Exp(d, v); });
}

void tanh_lanes(const float* x, int64_t count, float* y) {
  map_lanes(x, count, y, [](auto d, auto v) { return hn::Tanh(d, v); });
}

void sigmoid_lanes(const float* x, int64_t count, float* y) {
  map_lanes(x, count, y, [](auto d, auto v) {
    const auto one = hn::Set(d, 1.0f);
    return hn::Div(one, hn::Add(one, hn::Exp(d, hn::Neg(v))));
  });
}

void gelu_tanh_lanes(const float* x, int64_t count, float* y) {
  map_lanes(x, count, y, [](auto d, auto v) {
    const auto cubic = hn::MulAdd(hn::Mul(hn::Set(d, plain::gelu_cubic<float>), v), hn::Mul(v, v), v);
    const auto t = hn::Tanh(d, hn::Mul(hn::Set(d, plain::gelu_slope<float>), cubic));
    return hn::Mul(hn::Mul(hn::Set(d, 0.5f), v), hn::Add(hn::Set(d, 1.0f), t));
  });
}

}  // namespace glass::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "glassformer/base/threads.h"
#include "kernels/dispatch.h"
#include "kernels/strided.h"

namespace glass::kernels {

HWY_EXPORT(exp_lanes);
HWY_EXPORT(tanh_lanes);
HWY_EXPORT(sigmoid_lanes);
HWY_EXPORT(gelu_tanh_lanes);

namespace {

using Lanes = void (*)(const float*, int64_t, float*);

// nullptr where the function has no vector version.
Lanes vector_version(Unary f) {
  switch (f) {
    case Unary::exp: return GLASS_DISPATCH(exp_lanes);
    case Unary::tanh: return GLASS_DISPATCH(tanh_lanes);
    case Unary::sigmoid: return GLASS_DISPATCH(sigmoid_lanes);
    case Unary::gelu_tanh: return GLASS_DISPATCH(gelu_tanh_lanes);
    default: return nullptr;
  }
}

// The switch over f stays outside of the loop.
template <class T, class Body>
void with_constant(Unary f, Body&& body) {
  switch (f) {
    case Unary::relu: return body([](auto g, T v) { return g(Unary::relu, v); });
    default: return body([f](auto g, T v) { return g(f, v); });
  }
}

template <class T>
void map_plain(Unary f, const T* x, int64_t count, T* y) {
  with_constant<T>(f, [&](auto apply) {
    parallel_for(count, element_chunk, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        y[i] = apply([](Unary g, T v) { return plain::unary(g, v); }, x[i]);
      }
    });
  });
}

template <class T>
void map_derivative(Unary f, const T* dy, const T* saved, int64_t count, T* dx) {
  with_constant<T>(f, [&](auto apply) {
    parallel_for(count, element_chunk, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        dx[i] = dy[i] * apply([](Unary g, T v) { return plain::derivative(g, v); }, saved[i]);
      }
    });
  });
}

}  // namespace

void unary(Unary f, const float* x, int64_t count, float* y) {
  const Lanes lanes = vector_version(f);
  if (lanes == nullptr) return map_plain(f, x, count, y);
  parallel_for(count, element_chunk, [&](int64_t begin, int64_t end) { lanes(x + begin, end - begin, y + begin); });
}

void unary(Unary f, const double* x, int64_t count, double* y) { map_plain(f, x, count, y); }

void unary_backward(Unary f, const float* dy, const float* saved, int64_t count, float* dx) {
  map_derivative(f, dy, saved, count, dx);
}

void unary_backward(Unary f, const double* dy, const double* saved, int64_t count, double* dx) {
  map_derivative(f, dy, saved, count, dx);
}

}  // namespace glass::kernels
#endif
