// A model as the checks see it: what it computes, what its author says of it, and its parameters. Glassformer's own
// models have one ready made; a model of the user's own takes a few lines:
//
//     Probe probe;
//     probe.module = &model;
//     probe.logits = [&](const ProbeBatch& b) { return model(b.source, b.source_lengths, b.target); };
//     probe.source_vocabulary = probe.target_vocabulary = 8000;
//     Findings findings = diagnose(probe, batch);
//
// What happens inside is seen by the taps of the library's modules. A module of one's own is seen as well if it taps
// the same names: query_heads (before the scale) and key_heads and value_heads [B,H,T,K], scores (after the scale,
// before the mask) and weights [B,H,T,S], context [B,H,T,K], contribution (what a sub-layer adds) and stream (the sum)
// [B,T,D], encoding [T,D] followed by source_input or target_input [B,T,D].
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "glassformer/data/batches.h"
#include "glassformer/models/forecast_model.h"
#include "glassformer/models/translation_model.h"
#include "glassformer/nn/mask.h"

namespace glass {

struct ProbeBatch {
  Tensor source;          // [B,S] int32, padded at the end, or [B,S,C]; undefined if the model reads the target alone
  Tensor source_lengths;  // [B] int32; undefined if nothing is padded
  Tensor target;          // [B,T] int32 or [B,T,C]: what the decoder reads
  Tensor labels;          // [B,T] int32: what it is to say, pad_token where nothing counts; undefined if unknown
};

struct Probe {
  Module* module = nullptr;                          // in evaluation mode; the checks leave its parameters as they were
  std::function<Tensor(const ProbeBatch&)> logits;   // -> [B,T,V] or, for numbers, [B,T,C]
  Dim source_vocabulary = 0, target_vocabulary = 0;  // 0 for numbers
  Dim features = 1;                                  // C of numbers
  bool reads_source = true;
  bool pads_source = true;  // the model is told source_lengths
  bool fresh = true;        // nothing was trained yet, so that theory says what to expect
  // Which keys an attention, named by its path, is meant to see. Without it, weights are not compared with the mask.
  std::function<std::optional<AttentionMask>(const std::string& path, const ProbeBatch&)> mask_of;
  std::optional<NormScheme> norm;  // as declared; undefined for another one or none
  InitOptions init;                // as declared
};

Probe probe_of(TranslationModel& model);
Probe probe_of(ForecastModel& model);
ProbeBatch probe_batch(const TranslationBatch& batch);

// The mask that an attention should have, told by its path in an encoder-decoder: causal in "decoder…self_attn", the
// source's lengths in "…cross_attn" and in "encoder…"; nothing for other paths.
std::optional<AttentionMask> usual_mask(const std::string& path, const ProbeBatch& batch);

// Random tokens without special ones (or numbers of deviation 1), the same for the same seed. Row b has S − b mod
// (S/2 + 1) real source tokens; labels are random.
ProbeBatch random_batch(const Probe& probe, Dim batch, Dim source_length, Dim target_length, uint64_t seed = 1);

}  // namespace glass
