// Encoder and decoder: layers and stacks of them (Vaswani et al., 2017, section 3.1).
#pragma once

#include <vector>

#include "glassformer/nn/attention.h"
#include "glassformer/nn/feed_forward.h"
#include "glassformer/nn/residual.h"

namespace glass {

struct DropoutRates {
  double embedding = 0.1;     // on embedding + position
  double attention = 0.1;     // on attention weights
  double feed_forward = 0.1;  // after the activation
  double residual = 0.1;      // on each sub-layer's output
  static DropoutRates all(double rate) { return {rate, rate, rate, rate}; }
};

struct StackOptions {
  Dim d_model = 256;
  Dim heads = 8;
  Dim d_ff = 1024;
  int layers = 3;
  NormScheme norm = NormScheme::pre;
  bool final_norm = true;
  Activation activation = Activation::relu;
  DropoutRates dropout = {};
  AttentionScale scale = AttentionScale::inverse_sqrt();
};

class EncoderLayer : public ModuleOf<EncoderLayer> {
 public:
  EncoderLayer(Module* parent, std::string name, const StackOptions& options);
  // x [B,S,D] -> [B,S,D]
  Tensor forward(const Tensor& x, const AttentionMask& mask, const PositionScheme* positions = nullptr) const;
  const char* kind() const override { return "EncoderLayer"; }

  MultiHeadAttention self_attn;
  Residual self_attn_residual;
  FeedForward feed_forward;
  Residual feed_forward_residual;
};

class Encoder : public ModuleOf<Encoder> {
 public:
  Encoder(Module* parent, std::string name, const StackOptions& options);
  // x [B,S,D] -> [B,S,D]. With AttentionMask::causal() it is the body of a decoder-only model.
  Tensor forward(const Tensor& x, const AttentionMask& mask, const PositionScheme* positions = nullptr) const;
  const char* kind() const override { return "Encoder"; }

  ModuleList<EncoderLayer> layers;
  std::optional<LayerNorm> norm;  // the final norm, if there is one
};

// Keys and values of one decoder layer.
struct DecoderLayerCache {
  AttentionCache self_attn;   // grows by what is decoded
  AttentionCache cross_attn;  // the memory's, computed at the first step
};

class DecoderLayer : public ModuleOf<DecoderLayer> {
 public:
  DecoderLayer(Module* parent, std::string name, const StackOptions& options);
  // x [B,T,D], memory [B,S,D] -> [B,T,D]. self_mask comes on top of causality, which a decoder layer always has.
  Tensor forward(const Tensor& x, const Tensor& memory, const AttentionMask& self_mask,
                 const AttentionMask& memory_mask, const PositionScheme* positions = nullptr,
                 DecoderLayerCache* cache = nullptr) const;
  const char* kind() const override { return "DecoderLayer"; }

  MultiHeadAttention self_attn;
  Residual self_attn_residual;
  MultiHeadAttention cross_attn;
  Residual cross_attn_residual;
  FeedForward feed_forward;
  Residual feed_forward_residual;
};

// What decoding keeps between steps; one for each batch of hypotheses.
struct DecoderCache {
  std::vector<DecoderLayerCache> layers;
  Dim length() const { return layers.empty() ? 0 : layers[0].self_attn.length(); }
  // Keeps these rows of the batch, in this order: beams that go on, sentences that are not finished.
  void select(const std::vector<int64_t>& rows);
};

class Decoder : public ModuleOf<Decoder> {
 public:
  Decoder(Module* parent, std::string name, const StackOptions& options);
  // x [B,T,D], memory [B,S,D] -> [B,T,D]; the masks as in a layer. With a cache, x is what comes after what it holds,
  // the cache grows by T, and memory is read by its first call only. positions and cache stay the caller's. Throws
  // ShapeError if the sizes do not fit each other, the masks or the cache.
  Tensor forward(const Tensor& x, const Tensor& memory, const AttentionMask& self_mask,
                 const AttentionMask& memory_mask, const PositionScheme* positions = nullptr,
                 DecoderCache* cache = nullptr) const;
  const char* kind() const override { return "Decoder"; }

  ModuleList<DecoderLayer> layers;
  std::optional<LayerNorm> norm;
};

}  // namespace glass
