// Operations of the matrix products, counted from the sizes: two for each product of numbers that is added up. What is
// not a product of matrices (norms, softmax, dropout) is left out, and so is everything spent on padding.
#pragma once

#include "glassformer/models/config.h"

namespace glass::program {

constexpr int products_in_training = 3;  // forward; in the backward pass dx and dW

inline double attention_flops(double heads_times_width, double pairs) { return 2 * 2 * heads_times_width * pairs; }

// Of one layer's weights for one token.
inline double encoder_layer_flops(const TransformerConfig& c) {
  const auto d = static_cast<double>(c.d_model), f = static_cast<double>(c.d_ff);
  return 2 * (4 * d * d + 2 * d * f);
}
// Without key and value of the memory, which are of the source's tokens.
inline double decoder_layer_flops(const TransformerConfig& c) {
  const auto d = static_cast<double>(c.d_model);
  return encoder_layer_flops(c) + 2 * 2 * d * d;
}
inline double memory_flops(const TransformerConfig& c) {
  const auto d = static_cast<double>(c.d_model);
  return 2 * 2 * d * d;
}

// Of reading a sentence of `source` tokens.
inline double encode_flops(const TransformerConfig& c, double source) {
  const auto d = static_cast<double>(c.d_model);
  const double encoder = source * encoder_layer_flops(c) + attention_flops(d, source * source);
  return c.encoder_layers * encoder + c.decoder_layers * source * memory_flops(c);
}
// Of scoring `target` tokens, each seeing those before it and the source.
inline double decode_flops(const TransformerConfig& c, double source, double target) {
  const auto d = static_cast<double>(c.d_model);
  const double pairs = target * (target + 1) / 2 + target * source;
  const double layer = target * decoder_layer_flops(c) + attention_flops(d, pairs);
  return c.decoder_layers * layer + target * 2 * d * static_cast<double>(c.target_vocabulary);
}

}  // namespace glass::program
