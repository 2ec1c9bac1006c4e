// First loss, learning rate, learning, and heads of trained models.
#include <gtest/gtest.h>

#include <cmath>

#include "inspect/doctor_testing.h"

namespace glass {
namespace {

using namespace test;

// --- loss and learning

TEST(DoctorLearning, FirstLoss) { expect_in_both_norms(Fault::wide_logits, "first loss"); }

TEST(DoctorLearning, PreLnWithoutAFinalNorm) {
  TransformerConfig c = small_config();
  c.decoder_layers = 8;  // each makes the stream wider
  c.final_norm = false;  // the planted line
  TranslationModel model(c);
  const Probe probe = probe_of(model);
  EXPECT_EQ(names(diagnose(probe, real_batch(probe))), "first loss");
}

TEST(DoctorLearning, FirstLossOfLabelsGivenAway) {
  PlantedModel model({.tied = true});
  const Probe probe = probe_of(model);
  ProbeBatch batch = real_batch(probe);
  batch.labels = batch.target;
  EXPECT_EQ(names(check_first_loss(probe, batch)), "first loss");
}

TEST(DoctorLearning, OneBatchByHeart) {
  for (const NormScheme norm : {NormScheme::pre, NormScheme::post}) {
    PlantedModel model({.norm = norm});
    const Probe probe = probe_of(model);
    const Findings findings = check_learning(probe, real_batch(probe));
    EXPECT_TRUE(findings.empty()) << findings_text(findings);
  }
}

TEST(DoctorLearning, CannotLearn) {
  PlantedModel model({.fault = Fault::no_input});
  const Probe probe = probe_of(model);
  const auto before = model.named_parameters()[0].tensor.to_vector();
  const Findings findings = check_learning(probe, real_batch(probe));
  EXPECT_EQ(names(findings), "cannot learn") << findings_text(findings);
  EXPECT_EQ(before, model.named_parameters()[0].tensor.to_vector());
}

TEST(DoctorLearning, LearningRate) {
  for (const NormScheme norm : {NormScheme::pre, NormScheme::post}) {
    PlantedModel model({.norm = norm, .d_model = 64});
    const Probe probe = probe_of(model);
    const ScheduleOptions usual{Schedule::inverse_sqrt, 1e-3, 0, 1000, 0};
    EXPECT_TRUE(check_learning_rate(probe, usual).empty());
    ScheduleOptions high = usual, low = usual, cold = usual;
    high.lr = 2e-2;
    EXPECT_EQ(names(check_learning_rate(probe, high)), "learning rate");
    low.lr = 1e-6;
    EXPECT_EQ(names(check_learning_rate(probe, low)), "learning rate");
    cold.warmup_steps = 0;
    cold.lr = 5e-3;
    EXPECT_EQ(names(check_learning_rate(probe, cold)), "no warm-up");
  }
}

// --- heads

// A note on this head alone.
void expect_note(PlantedModel& model, const std::string& check, const std::string& place) {
  const Probe probe = probe_of(model);
  const Findings findings = check_heads(probe, real_batch(probe));
  ASSERT_EQ(names(findings), check) << findings_text(findings);
  EXPECT_EQ(findings[0].places, std::vector<std::string>{place});
  EXPECT_FALSE(has_faults(findings));
}

TEST(DoctorHeads, HealthyOnes) {
  for (const NormScheme norm : {NormScheme::pre, NormScheme::post}) {
    PlantedModel model({.norm = norm});
    const Probe probe = probe_of(model);
    const Findings findings = check_heads(probe, real_batch(probe));
    EXPECT_TRUE(findings.empty()) << findings_text(findings);
  }
}

TEST(DoctorHeads, Dead) {
  PlantedModel model({});
  parameter_of(model, "decoder.1.cross_attn.output.weight").narrowed(1, 8, 16).fill(0);  // head 1 of 4
  expect_note(model, "dead heads", "decoder.1.cross_attn head 1");
}

TEST(DoctorHeads, Redundant) {
  PlantedModel model({});
  for (const char* name : {"encoder.0.self_attn.query.weight", "encoder.0.self_attn.key.weight"}) {
    const Tensor matrix = parameter_of(model, name);
    matrix.narrowed(0, 24, 32).copy_from(matrix.narrowed(0, 0, 8));  // head 3 as head 0
  }
  expect_note(model, "redundant heads", "encoder.0.self_attn head 0 and 3");
}

TEST(DoctorHeads, Parked) {
  PlantedModel model({.fault = Fault::parked_head, .layers = 1});
  expect_note(model, "parked heads", "encoder.0.self_attn head 2");
}

}  // namespace
}  // namespace glass
