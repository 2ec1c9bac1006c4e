#include "glassformer/nn/layers.h"

#include <cmath>

#include "glassformer/base/error.h"

namespace glass {

Linear::Linear(Module* parent, std::string name, Dim in, Dim out, bool with_bias, Initial initial)
    : ModuleOf(parent, std::move(name)),
      weight(parameter("weight", {out, in}, initial)),
      bias(with_bias ? parameter("bias", {out}, Initial::zeros) : Tensor()) {}

Linear::Linear(Module* parent, std::string name, const Tensor& tied_weight)
    : ModuleOf(parent, std::move(name)), weight(tied_weight) {
  tie("weight", weight);
}

Tensor Linear::forward(const Tensor& x) const {
  if (compacted && !grad_enabled()) return compacted->product(x, bias);
  return linear(x, weight, bias);
}

void Linear::compact() { compacted.emplace(weight); }

void compact_weights(Module& module) {
  if (auto* linear = dynamic_cast<Linear*>(&module)) linear->compact();
  for (Module* child : module.children()) compact_weights(*child);
}

TokenEmbedding::TokenEmbedding(Module* parent, std::string name, Dim vocabulary, Dim d_model)
    : ModuleOf(parent, std::move(name)), weight(parameter("weight", {vocabulary, d_model}, Initial::embedding)) {}

TokenEmbedding::TokenEmbedding(Module* parent, std::string name, const Tensor& table)
    : ModuleOf(parent, std::move(name)), weight(table) {
  tie("weight", weight);
}

Tensor TokenEmbedding::forward(const Tensor& ids) const {
  return embedding(weight, ids) * std::sqrt(static_cast<double>(weight.size(1)));
}

LayerNorm::LayerNorm(Module* parent, std::string name, Dim d_model, double epsilon_)
    : ModuleOf(parent, std::move(name)),
      weight(parameter("weight", {d_model}, Initial::ones)),
      bias(parameter("bias", {d_model}, Initial::zeros)),
      epsilon(epsilon_) {}

Tensor LayerNorm::forward(const Tensor& x) const { return layer_norm(x, weight, bias, epsilon); }

Dropout::Dropout(Module* parent, std::string name, double rate_) : ModuleOf(parent, std::move(name)), rate(rate_) {
  if (!(rate >= 0 && rate < 1)) throw ValueError("dropout: the rate is in [0,1), got " + std::to_string(rate));
}

Tensor Dropout::forward(const Tensor& x) const { return is_training() ? dropout(x, rate) : x; }

}  // namespace glass
