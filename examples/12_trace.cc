// Looking inside: every intermediate tensor by its path, gradients too, and nothing changes by looking.
#include <cstdio>

#include "glassformer/autograd/ops.h"
#include "glassformer/inspect/trace.h"
#include "glassformer/models/translation_model.h"

using namespace glass;

namespace {

TransformerConfig small_config() {
  TransformerConfig config;
  config.d_model = 16;
  config.heads = 2;
  config.d_ff = 32;
  config.encoder_layers = config.decoder_layers = 2;
  config.source_vocabulary = config.target_vocabulary = 12;
  return config;
}

void print(const std::string& path, const TensorSummary& s) {
  std::printf("  %-45s %-10s mean %8.4f  deviation %7.4f\n", path.c_str(), s.shape.text().c_str(), s.numbers.mean,
              s.numbers.deviation());
}

}  // namespace

int main() {
  const TranslationModel model(small_config());
  const Tensor source = Tensor::from<int32_t>({5, 6, 7, 3}, {1, 4}), lengths = Tensor::from<int32_t>({4}, {1});
  const Tensor target_in = Tensor::from<int32_t>({2, 7, 6}, {1, 3}),
               target_out = Tensor::from<int32_t>({7, 6, 3}, {1, 3});
  const Tensor unseen = model(source, lengths, target_in);  // [B,T,V]

  // Everything that the model taps, and dL/d(value) of each that has one.
  const Trace trace = Trace::record([&] { backward(cross_entropy(model(source, lengths, target_in), target_out)); },
                                    {.gradients = true});
  std::printf("%zu tensors; the scores of the decoder:\n", trace.entries().size());
  for (const std::string& path : trace.matching("decoder.*.scores")) print(path, trace.entry(path).summary());
  std::printf("gradients of the residual stream, layer by layer:\n");
  for (const std::string& path : trace.matching("*.feed_forward_residual.stream")) {
    print(path, trace.entry(path).gradient_summary());
  }

  // For a long run: statistics that are carried on, no values.
  Trace running({.patterns = {"*.context"}, .keep_values = false});
  for (int step = 0; step < 100; ++step) running.extend([&] { model(source, lengths, target_in); });
  const TensorSummary summary = running.entry("encoder.layers.0.self_attn.context").summary();
  std::printf("%ld tensors, %ld numbers, none kept:\n", summary.tensors, summary.numbers.count);
  print("encoder.layers.0.self_attn.context", summary);

  const bool same = trace.at("logits").to_vector() == unseen.to_vector();
  std::printf("logits with and without a listener: %s\n", same ? "the same bits" : "different");
  return same && summary.tensors == 100 ? 0 : 1;
}
