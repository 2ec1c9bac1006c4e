// The residual connection with its norm and dropout, in one place, so that a layer is one line for each sub-layer.
#pragma once

#include "glassformer/nn/layers.h"

namespace glass {

enum class NormScheme {
  pre,   // x + f(LN(x)): the path from input to output is free of norms (Xiong et al., 2020)
  post,  // LN(x + f(x)): as in the original paper
};

class Residual : public Module {
 public:
  Residual(Module* parent, std::string name, Dim d_model, NormScheme scheme, double dropout, double epsilon = 1e-5);
  const char* kind() const override { return "Residual"; }

  // x [B,T,D]; sublayer: Tensor(const Tensor&) -> [B,T,D]
  template <class Sublayer>
  Tensor operator()(const Tensor& x, Sublayer&& sublayer) const {
    if (scheme == NormScheme::pre) return add_to(x, sublayer(norm_of(x)));
    return norm_of(add_to(x, sublayer(x)));
  }

  NormScheme scheme;
  LayerNorm norm;
  Dropout dropout;

 private:
  Tensor norm_of(const Tensor& x) const;
  Tensor add_to(const Tensor& x, const Tensor& contribution) const;  // x + dropout(contribution); taps both
};

}  // namespace glass
