// Each fault planted in a model, and found as that and nothing else.
#include <gtest/gtest.h>

#include <cmath>

#include "inspect/doctor_testing.h"

namespace glass {
namespace {

using namespace test;

// --- masks and leaks

TEST(DoctorMasks, FutureLeak) { expect_in_both_norms(Fault::future_visible, "future leak", "decoder.0.self_attn"); }
TEST(DoctorMasks, PaddingLeak) {
  expect_in_both_norms(Fault::padding_visible, "padding leak", "encoder.0.self_attn");
  expect_in_both_norms(Fault::padding_visible_in_cross, "padding leak", "decoder.0.cross_attn");
}
TEST(DoctorMasks, Reversed) { expect_in_both_norms(Fault::mask_reversed, "mask reversed", "decoder.0.self_attn"); }
TEST(DoctorMasks, BroadcastOverTheBatch) { expect_in_both_norms(Fault::mask_over_batch, "mask broadcast"); }
TEST(DoctorMasks, HeadsSplitWithoutTranspose) {
  expect_in_both_norms(Fault::split_without_transpose, "heads split", "decoder.0.self_attn");
}
TEST(DoctorMasks, HeadsMergedWithoutTranspose) {
  expect_in_both_norms(Fault::merge_without_transpose, "heads split", "decoder.0.self_attn");
}
TEST(DoctorMasks, NormOverPositions) { expect_in_both_norms(Fault::norm_over_positions, "norm axes"); }
TEST(DoctorMasks, NormOverTheBatch) {
  expect_only({.fault = Fault::norm_over_batch}, "examples mix");
  // Post-LN, what the norm gives is seen in the stream.
  expect_only({.fault = Fault::norm_over_batch, .norm = NormScheme::post}, "norm axes");
}
TEST(DoctorMasks, NoPositions) {
  expect_in_both_norms(Fault::no_source_positions, "no positions", "encoder");
  expect_in_both_norms(Fault::no_target_positions, "no positions", "decoder");
}

TEST(DoctorMasks, TargetsUnshifted) {
  PlantedModel model({});
  const Probe probe = probe_of(model);
  ProbeBatch batch = real_batch(probe);
  batch.labels = batch.target;  // the planted line
  EXPECT_EQ(names(diagnose(probe, batch)), "targets unshifted");
}

TEST(DoctorMasks, ATrainedModelThatRepeatsItsInput) {
  PlantedModel model({}), healthy({});
  Probe probe = probe_of(model), other = probe_of(healthy);
  ProbeBatch batch = real_batch(probe);
  train(healthy, batch, 100);
  batch.labels = batch.target;  // the planted line
  train(model, batch, 100);
  probe.fresh = other.fresh = false;
  EXPECT_EQ(names(check_targets(probe, real_batch(probe))), "targets unshifted");
  EXPECT_TRUE(check_targets(other, real_batch(other)).empty());
}

TEST(DoctorMasks, AModelOfOneSizeOnly) { expect_in_both_norms(Fault::fixed_size, "shapes"); }

// --- attention

TEST(DoctorAttention, MissingScale) {
  for (const Dim heads : {1, 4, 8}) {
    SCOPED_TRACE(heads);
    expect_only({.fault = Fault::no_scale, .heads = heads}, "score scale", "encoder.0.self_attn");
  }
  expect_in_both_norms(Fault::no_scale, "score scale");
  expect_in_both_norms(Fault::scale_twice, "score scale");
}

TEST(DoctorAttention, MissingScaleIsNamedInEveryAttention) {
  const Findings findings = findings_of({.fault = Fault::no_scale});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].places.size(), 6u);  // 2 encoder, 2 × 2 decoder
  EXPECT_NEAR(findings[0].evidence[0].measured, 1, 1e-3);
}

TEST(DoctorAttention, AScaleSwitchedOffInTheConfiguration) {
  for (const AttentionScale scale : {AttentionScale::none(), AttentionScale::fixed(0), AttentionScale::fixed(0.1)}) {
    TransformerConfig c = small_config();
    c.attention_scale = scale;
    TranslationModel model(c);
    const Probe probe = probe_of(model);
    EXPECT_EQ(names(diagnose(probe, real_batch(probe))), "score scale");
  }
}

TEST(DoctorAttention, Deadlocked) {
  expect_in_both_norms(Fault::even_attention, "deadlocked attention");
  expect_in_both_norms(Fault::sharp_attention, "deadlocked attention");
}

TEST(DoctorAttention, DeadlockedAfterTraining) {
  PlantedModel model({});
  for (const char* name : {"encoder.1.self_attn.query.weight", "encoder.1.self_attn.key.weight"}) {
    Tensor matrix = parameter_of(model, name);
    matrix.copy_from(mul(matrix.detach(), 0.05));
  }
  Probe probe = probe_of(model);
  probe.fresh = false;
  const Findings findings = check_deadlock(probe, real_batch(probe));
  EXPECT_EQ(names(findings), "deadlocked attention");
  EXPECT_EQ(findings[0].places, std::vector<std::string>{"encoder.1.self_attn"});
}

// --- stream

TEST(DoctorStream, EmbeddingNotScaled) { expect_in_both_norms(Fault::no_embedding_scale, "embedding scale"); }
TEST(DoctorStream, ResidualMissing) {
  expect_in_both_norms(Fault::no_residual, "residual", "encoder.0.self_attn_residual");
}
TEST(DoctorStream, NormElsewhereThanDeclared) {
  expect_only({.fault = Fault::norm_on_stream}, "norm place");
  expect_only({.fault = Fault::norm_on_output}, "norm place", "encoder.0.self_attn_residual");
  expect_only({.fault = Fault::no_norm_on_stream, .norm = NormScheme::post}, "norm place");
}
TEST(DoctorStream, GradientsExplodeOrVanish) {
  for (const NormScheme norm : {NormScheme::pre, NormScheme::post}) {
    expect_only({.fault = Fault::exploding, .norm = norm}, "gradient flow", {}, false);
    expect_only({.fault = Fault::vanishing, .norm = norm}, "gradient flow", {}, false);
  }
}

TEST(DoctorStream, ResidualMissingIsFoundWithoutTaps) {
  for (const NormScheme norm : {NormScheme::pre, NormScheme::post}) {
    PlantedModel faulty({.fault = Fault::no_residual, .norm = norm}), healthy({.norm = norm});
    EXPECT_EQ(names(check_direct_path(probe_of(faulty))), "residual");
    EXPECT_TRUE(check_direct_path(probe_of(healthy)).empty());
  }
}

TEST(DoctorStream, NotFinite) {
  PlantedModel model({});
  parameter_of(model, "decoder.0.feed_forward.inner.weight").narrowed(0, 0, 1).fill(std::nan(""));
  const Probe probe = probe_of(model);
  const Findings findings = diagnose(probe, real_batch(probe));
  EXPECT_EQ(names(findings), "not finite");
  EXPECT_NE(findings[0].places[0].find("decoder.0.feed_forward.inner"), std::string::npos) << findings[0].places[0];
}

// --- parameters

TEST(DoctorParameters, Twins) {
  PlantedModel model({});
  parameter_of(model, "encoder.1.feed_forward.inner.weight")
      .copy_from(parameter_of(model, "encoder.0.feed_forward.inner.weight"));
  const Probe probe = probe_of(model);
  const Findings findings = diagnose(probe, real_batch(probe));
  EXPECT_EQ(names(findings), "twins") << findings_text(findings);
  EXPECT_EQ(findings[0].places,
            (std::vector<std::string>{"encoder.0.feed_forward.inner.weight", "encoder.1.feed_forward.inner.weight"}));
}

TEST(DoctorParameters, InitialScale) {
  for (const char* name : {"encoder.0.self_attn.query.weight", "source_embedding.weight", "output.weight"}) {
    for (const double factor : {0.3, 3.0}) {
      PlantedModel model({});
      Tensor matrix = parameter_of(model, name);
      matrix.copy_from(mul(matrix.detach(), factor));
      const Probe probe = probe_of(model);
      const Findings findings = diagnose(probe, real_batch(probe));
      EXPECT_EQ(names(findings), "initial scale") << findings_text(findings);
      EXPECT_EQ(findings[0].places, std::vector<std::string>{name});
      EXPECT_NEAR(findings[0].evidence[1].measured, factor, 0.15 * factor);
    }
  }
}

TEST(DoctorParameters, AnOperationWithoutDerivative) {
  PlantedModel model({});
  Probe probe = probe_of(model);
  const auto logits = probe.logits;
  probe.logits = [&](const ProbeBatch& b) {
    const Tensor x = logits(b);
    return record_not_differentiable("round", x.clone(), {x});  // the planted line
  };
  EXPECT_EQ(names(diagnose(probe, real_batch(probe))), "no gradient");
}

TEST(DoctorParameters, NoGradient) { expect_in_both_norms(Fault::detached, "no gradient"); }

}  // namespace
}  // namespace glass
