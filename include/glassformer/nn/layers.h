// The small modules: Linear, TokenEmbedding, LayerNorm, Dropout.
#pragma once

#include <optional>

#include "glassformer/autograd/compact_weight.h"
#include "glassformer/autograd/ops.h"
#include "glassformer/nn/module.h"

namespace glass {

// y = x Wᵀ + b
class Linear : public ModuleOf<Linear> {
 public:
  // The weight begins as `initial` says: Initial::third for a part of a packed matrix (query, key, value). The bias
  // begins at zero.
  Linear(Module* parent, std::string name, Dim in, Dim out, bool with_bias = true, Initial initial = Initial::matrix);
  // Ties: another module's matrix [out,in] under this name too; no bias.
  Linear(Module* parent, std::string name, const Tensor& tied_weight);
  Tensor forward(const Tensor& x) const;  // [..,in] -> [..,out]; throws ShapeError for another last extent
  // Keeps the weight in fewer bytes beside itself, as it is now: what is computed without gradients uses those from now
  // on. Not safe while other threads call forward().
  void compact();
  const char* kind() const override { return "Linear"; }

  Tensor weight;  // [out,in]
  Tensor bias;    // [out], or undefined
  std::optional<CompactWeight> compacted;
};

// Linear::compact() of every Linear of the tree.
void compact_weights(Module& module);

// Rows of a table, scaled by √D so that they are as large as position encodings (Vaswani et al., 2017, section 3.4).
class TokenEmbedding : public ModuleOf<TokenEmbedding> {
 public:
  TokenEmbedding(Module* parent, std::string name, Dim vocabulary, Dim d_model);
  // Ties: the table of another module, under this name too.
  TokenEmbedding(Module* parent, std::string name, const Tensor& table);
  Tensor forward(const Tensor& ids) const;  // [B,T] int -> [B,T,D]
  const char* kind() const override { return "TokenEmbedding"; }

  Tensor weight;  // [V,D]
};

class LayerNorm : public ModuleOf<LayerNorm> {
 public:
  LayerNorm(Module* parent, std::string name, Dim d_model, double epsilon = 1e-5);
  Tensor forward(const Tensor& x) const;  // [..,D] -> [..,D]
  const char* kind() const override { return "LayerNorm"; }

  Tensor weight, bias;  // [D]
  double epsilon;
};

// Active in training mode only.
class Dropout : public ModuleOf<Dropout> {
 public:
  // Throws ValueError unless 0 <= rate < 1.
  Dropout(Module* parent, std::string name, double rate);
  // x itself in evaluation mode or at rate 0. Otherwise x has two to four axes, the first the example, and a
  // RandomScope is there: throws ShapeError or Error if not.
  Tensor forward(const Tensor& x) const;
  const char* kind() const override { return "Dropout"; }

  double rate;
};

}  // namespace glass
