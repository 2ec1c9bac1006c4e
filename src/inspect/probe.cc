#include "glassformer/inspect/probe.h"

#include "glassformer/base/random.h"

namespace glass {

namespace {

Tensor random_input(Random& random, Dim batch, Dim length, Dim vocabulary, Dim features) {
  if (vocabulary == 0) {
    Tensor numbers = Tensor::empty({batch, length, features});
    float* values = numbers.data<float>();
    for (Dim i = 0; i < numbers.numel(); ++i) values[i] = random.normal();
    return numbers;
  }
  const Dim first = vocabulary > special_tokens + 1 ? special_tokens : 0;
  Tensor tokens = Tensor::empty({batch, length}, DType::i32);
  auto* ids = tokens.data<int32_t>();
  for (Dim i = 0; i < tokens.numel(); ++i) {
    ids[i] = static_cast<int32_t>(first + static_cast<Dim>(random.below(static_cast<uint64_t>(vocabulary - first))));
  }
  return tokens;
}

void pad(ProbeBatch& batch) {
  const Dim rows = batch.source.size(0), length = batch.source.size(1);
  batch.source_lengths = Tensor::empty({rows}, DType::i32);
  for (Dim b = 0; b < rows; ++b) {
    const Dim real = length - b % (length / 2 + 1);
    batch.source_lengths.data<int32_t>()[b] = static_cast<int32_t>(real);
    if (real < length) batch.source.narrowed(0, b, b + 1).narrowed(1, real, length).fill(pad_token);
  }
}

Probe configured(Module& model, const TransformerConfig& config) {
  Probe probe;
  probe.module = &model;
  probe.norm = config.norm;
  probe.init = config.init;
  probe.mask_of = usual_mask;
  return probe;
}

}  // namespace

Probe probe_of(TranslationModel& model) {
  Probe probe = configured(model, model.config);
  probe.logits = [&model](const ProbeBatch& b) { return model(b.source, b.source_lengths, b.target); };
  probe.source_vocabulary = model.config.source_vocabulary;
  probe.target_vocabulary = model.config.target_vocabulary;
  return probe;
}

Probe probe_of(ForecastModel& model) {
  Probe probe = configured(model, model.config);
  probe.logits = [&model](const ProbeBatch& b) { return model(b.source, b.target); };
  probe.features = model.config.input_features;
  probe.pads_source = false;
  return probe;
}

ProbeBatch probe_batch(const TranslationBatch& batch) {
  return {batch.source, batch.source_lengths, batch.target_input, batch.target_output};
}

std::optional<AttentionMask> usual_mask(const std::string& path, const ProbeBatch& batch) {
  const AttentionMask lengths =
      batch.source_lengths.defined() ? AttentionMask::lengths(batch.source_lengths) : AttentionMask::none();
  if (path.find("cross_attn") != std::string::npos || path.starts_with("encoder")) return lengths;
  if (path.starts_with("decoder")) return AttentionMask::causal();
  return {};
}

ProbeBatch random_batch(const Probe& probe, Dim batch, Dim source_length, Dim target_length, uint64_t seed) {
  Random random(hash_combine(seed, hash_text("doctor")));
  ProbeBatch out;
  if (probe.reads_source) {
    out.source = random_input(random, batch, source_length, probe.source_vocabulary, probe.features);
    if (probe.pads_source) pad(out);
  }
  out.target = random_input(random, batch, target_length, probe.target_vocabulary, probe.features);
  if (probe.target_vocabulary > 0) out.labels = random_input(random, batch, target_length, probe.target_vocabulary, 1);
  return out;
}

}  // namespace glass
