#include "kernels/adamw.h"

#include <cmath>

#include "kernels/strided.h"

namespace glass::kernels {

void adamw(const AdamWStep& o, const float* grad, int64_t count, float* parameter, float* m, float* v) {
  const auto steps = static_cast<double>(o.step);
  const auto step_size = static_cast<float>(o.lr / (1 - std::pow(o.beta1, steps)));
  const auto correction2 = static_cast<float>(1 / std::sqrt(1 - std::pow(o.beta2, steps)));
  const auto keep = static_cast<float>(1 - o.lr * o.weight_decay);
  const auto beta1 = static_cast<float>(o.beta1), beta2 = static_cast<float>(o.beta2);
  const auto rest1 = static_cast<float>(1 - o.beta1), rest2 = static_cast<float>(1 - o.beta2);
  const auto epsilon = static_cast<float>(o.epsilon), scale = static_cast<float>(o.grad_scale);
  parallel_for(count, element_chunk, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const float g = grad[i] * scale;
      m[i] = beta1 * m[i] + rest1 * g;
      v[i] = beta2 * v[i] + rest2 * g * g;
      parameter[i] = keep * parameter[i] - step_size * m[i] / (std::sqrt(v[i]) * correction2 + epsilon);
    }
  });
}

}  // namespace glass::kernels
