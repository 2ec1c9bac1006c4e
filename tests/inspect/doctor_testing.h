// What the doctor's tests share.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "glassformer/inspect/doctor.h"
#include "glassformer/inspect/finding_report.h"
#include "inspect/planted_model.h"

namespace glass::test {

// A batch as training gives it: labels are the target one step later.
inline ProbeBatch real_batch(const Probe& probe) {
  ProbeBatch batch = random_batch(probe, 8, 9, 10, 3);
  batch.labels = concat({slice(batch.target, 1, 1, 10), slice(batch.labels, 1, 0, 1)}, 1);
  return batch;
}

inline Tensor parameter_of(const Module& module, const std::string& name) {
  for (const NamedParameter& p : module.named_parameters()) {
    if (p.name == name) return p.tensor;
  }
  throw std::runtime_error("no parameter " + name);
}

inline std::string names(const Findings& findings) {
  std::string text;
  for (const Finding& f : findings) text += (text.empty() ? "" : "; ") + f.check;
  return text;
}

inline Findings findings_of(const PlantedOptions& options, bool declares_norm = true) {
  PlantedModel model(options);
  Probe probe = probe_of(model);
  if (!declares_norm) probe.norm.reset();
  return diagnose(probe, real_batch(probe));
}

// Exactly this finding, whatever else it brings with it.
inline void expect_only(const PlantedOptions& options, const std::string& check, const std::string& place = {},
                        bool declares_norm = true) {
  const Findings findings = findings_of(options, declares_norm);
  EXPECT_EQ(names(findings), check) << findings_text(findings);
  if (findings.empty() || place.empty()) return;
  ASSERT_FALSE(findings[0].places.empty()) << findings_text(findings);
  EXPECT_EQ(findings[0].places[0], place);
}

inline void expect_in_both_norms(Fault fault, const std::string& check, const std::string& place = {}) {
  for (const NormScheme norm : {NormScheme::pre, NormScheme::post}) {
    SCOPED_TRACE(norm == NormScheme::pre ? "Pre-LN" : "Post-LN");
    expect_only({.fault = fault, .norm = norm}, check, place);
  }
}

inline TransformerConfig small_config() {
  TransformerConfig c;
  c.d_model = 32;
  c.heads = 4;
  c.d_ff = 64;
  c.encoder_layers = c.decoder_layers = 3;
  c.source_vocabulary = c.target_vocabulary = 60;
  return c;
}

// Updates on one batch, with the labels given.
inline void train(PlantedModel& model, const ProbeBatch& batch, int steps) {
  ParameterStore store(model);
  AdamW optimizer(store, {});
  for (int step = 1; step <= steps; ++step) {
    store.zero_grads();
    backward(cross_entropy(model(batch.source, batch.source_lengths, batch.target), batch.labels));
    optimizer.step(3e-3 * std::min(1.0, step / 20.0));
  }
}

}  // namespace glass::test
