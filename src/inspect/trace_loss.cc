#include "glassformer/inspect/trace_loss.h"

#include "glassformer/autograd/autograd.h"
#include "glassformer/autograd/tap.h"
#include "glassformer/nn/module.h"

namespace glass {

namespace {

// Sets the parameters' gradients aside for its lifetime.
class GradientsAside {
 public:
  explicit GradientsAside(const Module& module) : parameters_(module.named_parameters()) {
    for (NamedParameter& parameter : parameters_) {
      aside_.push_back(parameter.tensor.grad());
      parameter.tensor.set_grad({});
    }
  }
  ~GradientsAside() {
    // Backwards: of a tied parameter the first entry holds what it had.
    for (size_t i = parameters_.size(); i-- > 0;) parameters_[i].tensor.set_grad(aside_[i]);
  }
  GradientsAside(const GradientsAside&) = delete;
  GradientsAside& operator=(const GradientsAside&) = delete;

 private:
  std::vector<NamedParameter> parameters_;
  Tensors aside_;
};

}  // namespace

double trace_loss(const Module& module, const std::function<Tensor()>& loss, Trace& trace) {
  Tensor value;
  const auto forward = [&] { value = tap("loss", loss()); };
  if (!trace.options().gradients) {
    const NoGrad values_only;
    trace.extend(forward);
    return value.item();
  }
  const GradientsAside aside(module);
  trace.extend([&] {
    forward();
    backward(value);
  });
  trace.add_parameters(module);
  return value.item();
}

}  // namespace glass
