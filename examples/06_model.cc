// The whole model: a few training steps on one batch, which it learns by heart.
#include <cstdio>

#include "glassformer/base/random.h"
#include "glassformer/models/translation_model.h"
#include "glassformer/train/optimizer.h"

using namespace glass;

int main() {
  TransformerConfig config;
  config.d_model = 32;
  config.heads = 4;
  config.d_ff = 64;
  config.encoder_layers = config.decoder_layers = 1;
  config.dropout = DropoutRates::all(0);
  config.source_vocabulary = config.target_vocabulary = 12;
  TranslationModel model(config);
  ParameterStore parameters(model);
  AdamW optimizer(parameters, {});

  // Tokens: 0 padding, 2 beginning, 3 end. The target is the source reversed.
  const Tensor source = Tensor::from<int32_t>({5, 6, 7, 3, 8, 9, 3, 0}, {2, 4});
  const Tensor lengths = Tensor::from<int32_t>({4, 3}, {2});
  const Tensor target_in = Tensor::from<int32_t>({2, 7, 6, 5, 2, 9, 8, 0}, {2, 4});   // shifted: row t predicts …
  const Tensor target_out = Tensor::from<int32_t>({7, 6, 5, 3, 9, 8, 3, 0}, {2, 4});  // … the token that follows

  double loss = 0;
  for (int step = 0; step <= 60; ++step) {
    parameters.zero_grads();
    const Tensor logits = model(source, lengths, target_in);  // [B,T,V]
    const Tensor value = cross_entropy(logits, target_out, {/*smoothing=*/0, /*ignored=*/0});
    backward(value);
    optimizer.step(/*lr=*/0.01);
    loss = value.item();
    if (step % 20 == 0) std::printf("step %2d  loss %.4f\n", step, loss);
  }
  return loss < 0.1 ? 0 : 1;
}
