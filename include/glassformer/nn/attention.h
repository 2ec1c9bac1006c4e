// Scaled dot-product attention (Vaswani et al., 2017, equation 1) and multi-head attention (section 3.2.2).
#pragma once

#include <optional>

#include "glassformer/nn/attention_cache.h"
#include "glassformer/nn/layers.h"
#include "glassformer/nn/mask.h"
#include "glassformer/nn/positions.h"

namespace glass {

// What scores are multiplied by: 1/√K, nothing (to see what happens), or a number.
class AttentionScale {
 public:
  AttentionScale() = default;  // 1/√K
  static AttentionScale inverse_sqrt() { return {}; }
  static AttentionScale none() { return AttentionScale(1.0); }
  static AttentionScale fixed(double factor) { return AttentionScale(factor); }
  double factor(Dim head_width) const;
  std::optional<double> fixed_factor() const { return factor_; }

 private:
  explicit AttentionScale(double factor) : factor_(factor) {}
  std::optional<double> factor_;
};

// Steps 2 to 4 of attention: softmax(query·keyᵀ·scale + bias, over the keys that `mask` allows)·value.
// query [B,H,T,K], key [B,H,S,K], value [B,H,S,Kv] -> [B,H,T,Kv]. T and S need not agree; key and value must have the
// same S. `scale` is a factor, as from AttentionScale::factor(K). first_query is the absolute position of query 0, for
// the mask; key 0 stands at position 0. bias broadcasts to [B,H,T,S] or is undefined. `dropout` acts on the weights,
// nullptr for none. A query that may attend to no key gives zeros. Taps: scores, weights, context. Throws ShapeError if
// the shapes do not fit.
Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const AttentionMask& mask, double scale, Dim first_query = 0,
                                    const Tensor& bias = {}, const Dropout* dropout = nullptr);

namespace plain {

// The definition of the same, in memory that grows with T·S. It is what runs for float64 and with a position bias;
// without them the scores are worked on block by block and never stored (kernels/attention.h), which agrees with this
// to the last digits.
Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const AttentionMask& mask, double scale, Dim first_query = 0,
                                    const Tensor& bias = {}, const Dropout* dropout = nullptr);

}  // namespace plain

// What a call of attention needs beside its inputs; both are the caller's, nullptr for none.
struct AttentionContext {
  const PositionScheme* positions = nullptr;  // for rotate() and score_bias(); self-attention only
  AttentionCache* cache = nullptr;            // self-attention appends to it; cross-attention fills it once
};

struct AttentionOptions {
  Dim d_model = 0;
  Dim heads = 1;
  double dropout = 0;  // on the weights
  AttentionScale scale = {};
};

// H heads of width K = D/H, each attending alone; their outputs side by side, then projected.
class MultiHeadAttention : public ModuleOf<MultiHeadAttention> {
 public:
  // Throws ShapeError if d_model is not divisible by heads.
  MultiHeadAttention(Module* parent, std::string name, const AttentionOptions& options);

  // Self-attention: query, key and value from x [B,T,D] -> [B,T,D]. With a cache, x is what comes after its keys.
  Tensor forward(const Tensor& x, const AttentionMask& mask, const AttentionContext& context = {}) const;
  // Cross-attention: the query from x [B,T,D], key and value from memory [B,S,D] -> [B,T,D].
  Tensor forward(const Tensor& x, const Tensor& memory, const AttentionMask& mask,
                 const AttentionContext& context = {}) const;
  const char* kind() const override { return "MultiHeadAttention"; }

  Dim heads;
  AttentionScale scale = {};
  Linear query, key, value, output;
  Dropout dropout;

 private:
  // Steps 2 to 4 and the output projection, q [B,H,T,K] -> [B,T,D].
  Tensor attend(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionMask& mask, Dim first_query,
                const Tensor& bias) const;
  Tensor attend(const Tensor& q, const AttentionCache& cache, const AttentionMask& mask, Dim first_query,
                const Tensor& bias) const;
  void keep(const Tensor& k, const Tensor& v, AttentionCache& cache) const;
};

// [B,T,D] -> [B,H,T,K], and back. Splitting is a reshape *and* a transpose: a reshape alone would mix positions.
Tensor split_heads(const Tensor& x, Dim heads);
Tensor merge_heads(const Tensor& x);

}  // namespace glass
