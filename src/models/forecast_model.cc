#include "glassformer/models/forecast_model.h"

#include "glassformer/autograd/tap.h"

namespace glass {

ForecastModel::ForecastModel(const TransformerConfig& c)
    : ModuleOf(nullptr, ""),
      config(c),
      source_projection(this, "source_projection", c.input_features, c.d_model),
      target_projection(this, "target_projection", c.input_features, c.d_model),
      encoder_positions(make_positions(c.positions, this, "encoder_positions", c.max_positions, c.d_model)),
      decoder_positions(make_positions(c.positions, this, "decoder_positions", c.max_positions, c.d_model)),
      source_dropout(this, "source_dropout", c.dropout.embedding),
      target_dropout(this, "target_dropout", c.dropout.embedding),
      encoder(this, "encoder", c.encoder_options()),
      decoder(this, "decoder", c.decoder_options()),
      output(this, "output", c.d_model, c.input_features) {
  initialize(*this, c.init, c.seed);
}

Tensor ForecastModel::encode(const Tensor& history) const {
  const Tensor x = encoder_positions->embed(source_projection(history), 0);  // [B,S,D]
  return encoder(source_dropout(tap("source_input", x)), AttentionMask::none(), encoder_positions.get());
}

Tensor ForecastModel::decode(const Tensor& previous, const Tensor& memory, DecoderCache* cache) const {
  const Dim first = cache != nullptr ? cache->length() : 0;
  const Tensor y = decoder_positions->embed(target_projection(previous), first);  // [B,T,D]
  const Tensor hidden = decoder(target_dropout(tap("target_input", y)), memory, AttentionMask::none(),
                                AttentionMask::none(), decoder_positions.get(), cache);
  return output(hidden);  // [B,T,C]
}

Tensor ForecastModel::forward(const Tensor& history, const Tensor& previous) const {
  return decode(previous, encode(history), nullptr);
}

Tensor ForecastModel::forecast(const Tensor& history, Dim horizon) const {
  const NoGrad values_only;
  const Tensor memory = encode(history);
  DecoderCache cache;
  Tensors steps;
  Tensor last = slice(history, 1, history.size(1) - 1, history.size(1));  // [B,1,C]
  for (Dim step = 0; step < horizon; ++step) {
    last = decode(last, memory, &cache);
    steps.push_back(last);
  }
  return concat(steps, 1);  // [B,horizon,C]
}

}  // namespace glass
