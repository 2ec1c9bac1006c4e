#include "glassformer/nn/feed_forward.h"

#include "glassformer/autograd/tap.h"

namespace glass {

Tensor activate(Activation activation, const Tensor& x) { return activation == Activation::relu ? relu(x) : gelu(x); }

FeedForward::FeedForward(Module* parent, std::string name, Dim d_model, Dim d_ff, Activation activation_,
                         double dropout_rate)
    : ModuleOf(parent, std::move(name)),
      activation(activation_),
      inner(this, "inner", d_model, d_ff),
      outer(this, "outer", d_ff, d_model),
      dropout(this, "dropout", dropout_rate) {}

Tensor FeedForward::forward(const Tensor& x) const {
  const Tensor hidden = tap("hidden", activate(activation, inner(x)));  // [B,T,F]
  return outer(dropout(hidden));                                        // [B,T,D]
}

}  // namespace glass
