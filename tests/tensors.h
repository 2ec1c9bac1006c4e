// Random tensors, and how far apart two are.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "glassformer/base/random.h"
#include "glassformer/tensor/tensor.h"

namespace glass::test {

// Normally distributed float32, the same for the same key.
inline Tensor random_tensor(const Shape& shape, uint64_t key) {
  Random random(key);
  std::vector<float> values(static_cast<size_t>(shape.numel()));
  for (float& value : values) value = random.normal();
  return Tensor::from(values, shape);
}

// ‖a − b‖ / max(‖b‖, floor): the floor for where b may be zero.
inline double relative_distance(const Tensor& a, const Tensor& b, double floor = 1e-15) {
  const auto x = a.to_vector(), y = b.to_vector();
  double difference = 0, size = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    difference += (x[i] - y[i]) * (x[i] - y[i]);
    size += y[i] * y[i];
  }
  return std::sqrt(difference) / std::max(std::sqrt(size), floor);
}

}  // namespace glass::test
