// AdamW over a flat buffer (Loshchilov & Hutter, 2019; Kingma & Ba, 2015).
#pragma once

#include <cstdint>

namespace glass::kernels {

struct AdamWStep {
  double lr, beta1, beta2, epsilon, weight_decay;
  int64_t step;         // from 1, for the bias correction
  double grad_scale;    // gradients are multiplied by this first: 1/tokens, and clipping
};

// One update of `count` parameters and their moments m and v.
void adamw(const AdamWStep& options, const float* grad, int64_t count, float* parameter, float* m, float* v);

}  // namespace glass::kernels
