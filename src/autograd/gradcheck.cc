#include "glassformer/autograd/gradcheck.h"

#include <cmath>

#include "autograd/op_support.h"
#include "glassformer/base/random.h"

namespace glass {

namespace {

// A scalar that weights every element of y differently.
Tensor weighted_sum(const Tensor& y) {
  Random random(7);
  Tensor weights = Tensor::empty(y.shape(), DType::f64);
  for (Dim i = 0; i < y.numel(); ++i) weights.data<double>()[i] = static_cast<double>(random.uniform(0.5f, 1.5f));
  return sum(mul(y, weights));
}

double value_of(const std::function<Tensor(const Tensors&)>& f, const Tensors& inputs) {
  const NoGrad values_only;
  return weighted_sum(f(inputs)).item();
}

}  // namespace

GradcheckResult gradcheck(const std::function<Tensor(const Tensors&)>& f, Tensors inputs, double step,
                          double tolerance) {
  for (Tensor& input : inputs) {
    input = input.to(DType::f64).clone();
    input.set_requires_grad(true);
  }
  backward(weighted_sum(f(inputs)));
  GradcheckResult result;
  for (size_t n = 0; n < inputs.size(); ++n) {
    double* values = inputs[n].data<double>();
    const Tensor grad = inputs[n].grad();
    for (Dim i = 0; i < inputs[n].numel(); ++i) {
      const double original = values[i];
      values[i] = original + step;
      const double above = value_of(f, inputs);
      values[i] = original - step;
      const double below = value_of(f, inputs);
      values[i] = original;
      const double numeric = (above - below) / (2 * step);
      const double analytic = grad.defined() ? grad.data<double>()[i] : 0;
      const double difference = std::abs(analytic - numeric) / (1 + std::abs(numeric));
      if (!(difference > result.worst) && !std::isnan(difference)) continue;  // once NaN, it stays
      result.worst = difference;
      result.message = "input " + std::to_string(n) + ", element " + std::to_string(i) + ": analytic " +
                       std::to_string(analytic) + ", numeric " + std::to_string(numeric);
    }
  }
  result.ok = result.worst <= tolerance;
  return result;
}

}  // namespace glass
