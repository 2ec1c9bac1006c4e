#include "glassformer/nn/residual.h"

#include "glassformer/autograd/tap.h"

namespace glass {

Residual::Residual(Module* parent, std::string name, Dim d_model, NormScheme scheme_, double dropout_rate,
                   double epsilon)
    : Module(parent, std::move(name)),
      scheme(scheme_),
      norm(this, "norm", d_model, epsilon),
      dropout(this, "dropout", dropout_rate) {}

Tensor Residual::norm_of(const Tensor& x) const {
  const Scope scope(name());
  return norm(x);
}

Tensor Residual::add_to(const Tensor& x, const Tensor& contribution) const {
  const Scope scope(name());
  tap("contribution", contribution);
  return tap("stream", x + dropout(contribution));
}

}  // namespace glass
