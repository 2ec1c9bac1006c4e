// Compares an operation's derivative with central finite differences, in float64.
#pragma once

#include <functional>

#include "glassformer/autograd/autograd.h"

namespace glass {

struct GradcheckResult {
  bool ok = false;
  double worst = 0;     // the largest |analytic − numeric| / (1 + |numeric|)
  std::string message;  // names the input and the element that is worst
};

// `f` maps the inputs (float64 leaves) to a tensor of any shape; its elements are weighted with fixed pseudo-random
// numbers, so a gradient that is merely constant does not pass.
GradcheckResult gradcheck(const std::function<Tensor(const Tensors&)>& f, Tensors inputs, double step = 1e-5,
                          double tolerance = 1e-6);

}  // namespace glass
