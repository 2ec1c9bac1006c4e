// The position-wise feed-forward network (Vaswani et al., 2017, equation 2).
#pragma once

#include "glassformer/nn/layers.h"

namespace glass {

enum class Activation { relu, gelu };
Tensor activate(Activation activation, const Tensor& x);

// outer(dropout(activation(inner(x)))), each position alone.
class FeedForward : public ModuleOf<FeedForward> {
 public:
  FeedForward(Module* parent, std::string name, Dim d_model, Dim d_ff, Activation activation, double dropout);
  Tensor forward(const Tensor& x) const;  // [B,T,D] -> [B,T,D]
  const char* kind() const override { return "FeedForward"; }

  Activation activation;
  Linear inner, outer;
  Dropout dropout;
};

}  // namespace glass
