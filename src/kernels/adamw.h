// AdamW over a model's arrays (Loshchilov & Hutter, 2019; Kingma & Ba, 2015).
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace glass::kernels {

struct AdamWStep {
  double lr, beta1, beta2, epsilon, weight_decay;
  int64_t step;       // from 1, for the bias correction
  double grad_scale;  // gradients are multiplied by this first: 1/tokens, and clipping
};

// `count` parameters, their gradients and their moments.
struct AdamWArrays {
  const float* grad;
  int64_t count;
  float *parameter, *m, *v;
};

// One update of all of them. Arrays that decay differently take one call each.
void adamw(const AdamWStep& options, const std::vector<AdamWArrays>& arrays);

namespace plain {

// m' = β₁m + (1−β₁)g, v' = β₂v + (1−β₂)g², and with m̂ = m'/(1−β₁ᵗ), v̂ = v'/(1−β₂ᵗ):
// θ' = θ − lr·weight_decay·θ − lr·m̂/(√v̂ + ε)
template <class T>
void adamw(const AdamWStep& o, T grad, T& parameter, T& m, T& v) {
  const double t = static_cast<double>(o.step);
  const T g = grad * static_cast<T>(o.grad_scale);
  m = static_cast<T>(o.beta1) * m + static_cast<T>(1 - o.beta1) * g;
  v = static_cast<T>(o.beta2) * v + static_cast<T>(1 - o.beta2) * g * g;
  const T corrected_m = m / static_cast<T>(1 - std::pow(o.beta1, t));
  const T corrected_v = v / static_cast<T>(1 - std::pow(o.beta2, t));
  parameter = parameter - static_cast<T>(o.lr * o.weight_decay) * parameter -
              static_cast<T>(o.lr) * corrected_m / (std::sqrt(corrected_v) + static_cast<T>(o.epsilon));
}

}  // namespace plain
}  // namespace glass::kernels
