// An encoder-decoder on numbers: each time step's values are projected to D instead of embedded, and the output layer
// gives the next step's values.
#pragma once

#include <memory>

#include "glassformer/models/config.h"

namespace glass {

// C is config.input_features, the numbers of one step. Forward passes throw ShapeError for another C, and ValueError
// for more steps than learned positions.
class ForecastModel : public ModuleOf<ForecastModel> {
 public:
  // Initial weights from config.seed; vocabularies and tie_embeddings are not read. Throws ShapeError or ValueError for
  // a config that cannot be built.
  explicit ForecastModel(const TransformerConfig& config);

  // history [B,S,C]; previous [B,T,C]: the last value of the history and then the true values before each step
  // -> [B,T,C]: step t predicted from the history and previous[.., 0..t].
  Tensor forward(const Tensor& history, const Tensor& previous) const;
  // Each prediction fed back as the next input. history [B,S,C] -> [B,horizon,C], horizon 1 or more. Builds no graph.
  Tensor forecast(const Tensor& history, Dim horizon) const;
  Tensor encode(const Tensor& history) const;  // -> memory [B,S,D]
  // previous [B,T,C] -> [B,T,C]. With a cache, which is the caller's and grows by T, `previous` is what comes after
  // what it holds; nullptr for none.
  Tensor decode(const Tensor& previous, const Tensor& memory, DecoderCache* cache) const;
  const char* kind() const override { return "ForecastModel"; }

  TransformerConfig config;
  Linear source_projection, target_projection;  // C -> D
  std::unique_ptr<PositionScheme> encoder_positions, decoder_positions;
  Dropout source_dropout, target_dropout;  // on embedding + position
  Encoder encoder;
  Decoder decoder;
  Linear output;  // D -> C
};

}  // namespace glass
