// What a model is made from. Saved inside the model file, as JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "glassformer/nn/stacks.h"

namespace glass {

enum class TieEmbeddings {
  none,
  output,  // the output layer's matrix is the target embedding
  all,     // source embedding, target embedding and output are one; needs a shared vocabulary
};

struct TransformerConfig {
  Dim d_model = 256;
  Dim heads = 8;
  Dim d_ff = 1024;
  int encoder_layers = 3;
  int decoder_layers = 3;
  DropoutRates dropout;
  NormScheme norm = NormScheme::pre;
  std::optional<bool> final_norm;  // default: true for pre, false for post
  Activation activation = Activation::relu;
  AttentionScale attention_scale = AttentionScale::inverse_sqrt();
  PositionKind positions = PositionKind::sinusoidal;
  Dim max_positions = 1024;  // learned positions only
  InitOptions init;
  TieEmbeddings tie_embeddings = TieEmbeddings::output;
  Dim source_vocabulary = 0;  // translation
  Dim target_vocabulary = 0;
  Dim input_features = 1;  // forecasting: numbers per time step
  uint64_t seed = 1;       // of the initial weights

  StackOptions encoder_options() const;
  StackOptions decoder_options() const;
};

// One JSON object, every field written. from_json takes missing fields as defaults and throws InputError for unknown
// ones, wrong types and values out of range.
std::string config_to_json(const TransformerConfig& config);
TransformerConfig config_from_json(const std::string& json);

}  // namespace glass
