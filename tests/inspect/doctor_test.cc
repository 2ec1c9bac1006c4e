#include "glassformer/inspect/doctor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "glassformer/base/error.h"
#include "glassformer/base/random.h"
#include "glassformer/inspect/finding_report.h"
#include "inspect/planted_model.h"

namespace glass {
namespace {

using test::Fault, test::PlantedModel, test::PlantedOptions;

// A batch as training gives it: labels are the target one step later.
ProbeBatch real_batch(const Probe& probe) {
  ProbeBatch batch = random_batch(probe, 8, 9, 10, 3);
  batch.labels = concat({slice(batch.target, 1, 1, 10), slice(batch.labels, 1, 0, 1)}, 1);
  return batch;
}

Tensor parameter_of(const Module& module, const std::string& name) {
  for (const NamedParameter& p : module.named_parameters()) {
    if (p.name == name) return p.tensor;
  }
  throw std::runtime_error("no parameter " + name);
}

std::string names(const Findings& findings) {
  std::string text;
  for (const Finding& f : findings) text += (text.empty() ? "" : "; ") + f.check;
  return text;
}

Findings findings_of(const PlantedOptions& options, bool declares_norm = true) {
  PlantedModel model(options);
  Probe probe = test::probe_of(model);
  if (!declares_norm) probe.norm.reset();
  return diagnose(probe, real_batch(probe));
}

// Exactly this finding, whatever else it brings with it.
void expect_only(const PlantedOptions& options, const std::string& check, const std::string& place = {},
                 bool declares_norm = true) {
  const Findings findings = findings_of(options, declares_norm);
  EXPECT_EQ(names(findings), check) << findings_text(findings);
  if (findings.empty() || place.empty()) return;
  ASSERT_FALSE(findings[0].places.empty()) << findings_text(findings);
  EXPECT_EQ(findings[0].places[0], place);
}

void expect_in_both_norms(Fault fault, const std::string& check, const std::string& place = {}) {
  for (const NormScheme norm : {NormScheme::pre, NormScheme::post}) {
    SCOPED_TRACE(norm == NormScheme::pre ? "Pre-LN" : "Post-LN");
    expect_only({.fault = fault, .norm = norm}, check, place);
  }
}

// --- healthy models give nothing

TEST(DoctorHealthy, AModelOfOnesOwn) {
  for (const NormScheme norm : {NormScheme::pre, NormScheme::post}) {
    for (const bool tied : {false, true}) {
      for (const Dim vocabulary : {11, 500}) {
        const Findings findings = findings_of({.norm = norm, .tied = tied, .vocabulary = vocabulary});
        EXPECT_TRUE(findings.empty()) << findings_text(findings);
      }
    }
  }
}

TransformerConfig small_config() {
  TransformerConfig c;
  c.d_model = 32;
  c.heads = 4;
  c.d_ff = 64;
  c.encoder_layers = c.decoder_layers = 3;
  c.source_vocabulary = c.target_vocabulary = 60;
  return c;
}

void expect_healthy(const TransformerConfig& config) {
  TranslationModel model(config);
  const Probe probe = probe_of(model);
  const Findings findings = diagnose(probe, real_batch(probe));
  EXPECT_TRUE(findings.empty()) << config_to_json(config) << "\n" << findings_text(findings);
}

TEST(DoctorHealthy, EveryKindOfTranslationModel) {
  for (const NormScheme norm : {NormScheme::pre, NormScheme::post}) {
    for (const TieEmbeddings tie : {TieEmbeddings::none, TieEmbeddings::output, TieEmbeddings::all}) {
      for (const PositionKind positions : {PositionKind::sinusoidal, PositionKind::learned}) {
        TransformerConfig c = small_config();
        c.norm = norm;
        c.tie_embeddings = tie;
        c.positions = positions;
        c.max_positions = 64;
        expect_healthy(c);
      }
    }
  }
}

TEST(DoctorHealthy, OtherSizesAndInitialisers) {
  for (const uint64_t seed : {1, 2, 3}) {
    TransformerConfig c = small_config();
    c.seed = seed;
    c.init.matrices = seed == 2 ? InitScheme::kaiming : InitScheme::xavier;
    c.init.embeddings = seed == 3 ? EmbeddingInit::matrix : EmbeddingInit::normal;
    c.norm = seed == 1 ? NormScheme::pre : NormScheme::post;
    c.d_model = seed == 1 ? 15 : 64;
    c.heads = seed == 1 ? 3 : 8;
    c.positions = seed == 3 ? PositionKind::learned : PositionKind::sinusoidal;
    c.activation = Activation::gelu;
    c.source_vocabulary = c.target_vocabulary = seed == 1 ? 9 : 900;
    expect_healthy(c);
  }
}

TEST(DoctorHealthy, AForecastModel) {
  for (const NormScheme norm : {NormScheme::pre, NormScheme::post}) {
    TransformerConfig c = small_config();
    c.norm = norm;
    c.input_features = 2;
    ForecastModel model(c);
    const Probe probe = probe_of(model);
    const Findings findings = diagnose(probe, random_batch(probe, 8, 10, 5));
    EXPECT_TRUE(findings.empty()) << findings_text(findings);
  }
}

// Updates on one batch, with the labels given.
void train(PlantedModel& model, const ProbeBatch& batch, int steps) {
  ParameterStore store(model);
  AdamW optimizer(store, {});
  for (int step = 1; step <= steps; ++step) {
    store.zero_grads();
    backward(cross_entropy(model(batch.source, batch.source_lengths, batch.target), batch.labels));
    optimizer.step(3e-3 * std::min(1.0, step / 20.0));
  }
}

TEST(DoctorHealthy, ATrainedModel) {
  for (const NormScheme norm : {NormScheme::pre, NormScheme::post}) {
    PlantedModel model({.norm = norm, .tied = true});
    Probe probe = test::probe_of(model);
    train(model, real_batch(probe), 60);
    probe.fresh = false;
    const Findings findings = diagnose(probe, real_batch(probe));
    EXPECT_FALSE(has_faults(findings)) << findings_text(findings);
  }
}

// Another shape of model: a decoder alone, a stack of the library's own with embedding and output layer.
class LanguageModel : public ModuleOf<LanguageModel> {
 public:
  explicit LanguageModel(AttentionMask mask_)
      : ModuleOf(nullptr, ""),
        embedding(this, "embedding", 50, 32),
        positions(this, "positions", 32),
        body(this, "body", small_config().encoder_options()),
        output(this, "output", embedding.weight),
        mask(std::move(mask_)) {}
  Tensor forward(const Tensor& ids) const { return output(body(positions.embed(embedding(ids), 0), mask)); }

  TokenEmbedding embedding;
  SinusoidalPositions positions;
  Encoder body;
  Linear output;
  AttentionMask mask;
};

Findings findings_of_language_model(const AttentionMask& mask) {
  LanguageModel model(mask);
  Probe probe;
  probe.module = &model;
  probe.logits = [&](const ProbeBatch& b) { return model(b.target); };
  probe.target_vocabulary = 50;
  probe.reads_source = false;
  probe.norm = NormScheme::pre;
  return diagnose(probe, real_batch(probe));
}

TEST(DoctorHealthy, ADecoderAlone) {
  const Findings findings = findings_of_language_model(AttentionMask::causal());
  EXPECT_TRUE(findings.empty()) << findings_text(findings);
}

// Positions in the scores, where nothing is added to the embeddings (Press et al., 2022).
class DistancePenalty : public PositionScheme {
 public:
  using PositionScheme::PositionScheme;
  Tensor score_bias(const ScoreExtent& e) const override {
    Tensor bias = Tensor::empty({1, 1, e.queries, e.keys});
    for (Dim i = 0; i < bias.numel(); ++i)
      bias.data<float>()[i] = -0.5F * static_cast<float>(std::abs(i / e.keys - i % e.keys));
    return bias;
  }
};

TEST(DoctorHealthy, PositionsInTheScores) {
  LanguageModel model(AttentionMask::causal());
  const DistancePenalty penalty(nullptr, "penalty");
  Probe probe;
  probe.module = &model;
  probe.logits = [&](const ProbeBatch& b) {
    return model.output(model.body(model.embedding(b.target), model.mask, &penalty));
  };
  probe.target_vocabulary = 50;
  probe.reads_source = false;
  const Findings findings = diagnose(probe, real_batch(probe));
  EXPECT_TRUE(findings.empty()) << findings_text(findings);
  probe.logits = [&](const ProbeBatch& b) { return model.output(model.body(model.embedding(b.target), model.mask)); };
  EXPECT_EQ(names(diagnose(probe, real_batch(probe))), "no positions");
}

TEST(DoctorMasks, FutureLeakOfADecoderAlone) {
  const Findings findings = findings_of_language_model(AttentionMask::none());
  EXPECT_EQ(names(findings), "future leak") << findings_text(findings);
  EXPECT_EQ(findings[0].places, std::vector<std::string>{"body.layers.0.self_attn"});
}

TEST(DoctorHealthy, NothingIsChangedByLooking) {
  PlantedModel model({});
  const Probe probe = test::probe_of(model);
  const ProbeBatch batch = real_batch(probe);
  const auto before = model(batch.source, batch.source_lengths, batch.target).to_vector();
  diagnose(probe, batch);
  EXPECT_EQ(before, model(batch.source, batch.source_lengths, batch.target).to_vector());
  for (const NamedParameter& p : model.named_parameters()) EXPECT_FALSE(p.tensor.grad().defined()) << p.name;
}

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
  const Probe probe = test::probe_of(model);
  ProbeBatch batch = real_batch(probe);
  batch.labels = batch.target;  // the planted line
  EXPECT_EQ(names(diagnose(probe, batch)), "targets unshifted");
}

TEST(DoctorMasks, ATrainedModelThatRepeatsItsInput) {
  PlantedModel model({}), healthy({});
  Probe probe = test::probe_of(model), other = test::probe_of(healthy);
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
  Probe probe = test::probe_of(model);
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
    EXPECT_EQ(names(check_direct_path(test::probe_of(faulty))), "residual");
    EXPECT_TRUE(check_direct_path(test::probe_of(healthy)).empty());
  }
}

TEST(DoctorStream, NotFinite) {
  PlantedModel model({});
  parameter_of(model, "decoder.0.feed_forward.inner.weight").narrowed(0, 0, 1).fill(std::nan(""));
  const Probe probe = test::probe_of(model);
  const Findings findings = diagnose(probe, real_batch(probe));
  EXPECT_EQ(names(findings), "not finite");
  EXPECT_NE(findings[0].places[0].find("decoder.0.feed_forward.inner"), std::string::npos) << findings[0].places[0];
}

// --- parameters

TEST(DoctorParameters, Twins) {
  PlantedModel model({});
  parameter_of(model, "encoder.1.feed_forward.inner.weight")
      .copy_from(parameter_of(model, "encoder.0.feed_forward.inner.weight"));
  const Probe probe = test::probe_of(model);
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
      const Probe probe = test::probe_of(model);
      const Findings findings = diagnose(probe, real_batch(probe));
      EXPECT_EQ(names(findings), "initial scale") << findings_text(findings);
      EXPECT_EQ(findings[0].places, std::vector<std::string>{name});
      EXPECT_NEAR(findings[0].evidence[1].measured, factor, 0.15 * factor);
    }
  }
}

TEST(DoctorParameters, NoGradient) { expect_in_both_norms(Fault::detached, "no gradient"); }

// --- loss and learning

TEST(DoctorLearning, FirstLoss) { expect_in_both_norms(Fault::wide_logits, "first loss"); }

TEST(DoctorLearning, PreLnWithoutAFinalNorm) {
  TransformerConfig c = small_config();
  c.final_norm = false;  // the planted line
  TranslationModel model(c);
  const Probe probe = probe_of(model);
  EXPECT_EQ(names(diagnose(probe, real_batch(probe))), "first loss");
}

TEST(DoctorLearning, FirstLossOfLabelsGivenAway) {
  PlantedModel model({.tied = true});
  const Probe probe = test::probe_of(model);
  ProbeBatch batch = real_batch(probe);
  batch.labels = batch.target;
  EXPECT_EQ(names(check_first_loss(probe, batch)), "first loss");
}

TEST(DoctorLearning, OneBatchByHeart) {
  for (const NormScheme norm : {NormScheme::pre, NormScheme::post}) {
    PlantedModel model({.norm = norm});
    const Probe probe = test::probe_of(model);
    const Findings findings = check_learning(probe, real_batch(probe));
    EXPECT_TRUE(findings.empty()) << findings_text(findings);
  }
}

TEST(DoctorLearning, CannotLearn) {
  PlantedModel model({.fault = Fault::no_input});
  const Probe probe = test::probe_of(model);
  const auto before = model.named_parameters()[0].tensor.to_vector();
  const Findings findings = check_learning(probe, real_batch(probe));
  EXPECT_EQ(names(findings), "cannot learn") << findings_text(findings);
  EXPECT_EQ(before, model.named_parameters()[0].tensor.to_vector());
}

TEST(DoctorLearning, LearningRate) {
  for (const NormScheme norm : {NormScheme::pre, NormScheme::post}) {
    PlantedModel model({.norm = norm, .d_model = 64});
    const Probe probe = test::probe_of(model);
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
  const Probe probe = test::probe_of(model);
  const Findings findings = check_heads(probe, real_batch(probe));
  ASSERT_EQ(names(findings), check) << findings_text(findings);
  EXPECT_EQ(findings[0].places, std::vector<std::string>{place});
  EXPECT_FALSE(has_faults(findings));
}

TEST(DoctorHeads, HealthyOnes) {
  for (const NormScheme norm : {NormScheme::pre, NormScheme::post}) {
    PlantedModel model({.norm = norm});
    const Probe probe = test::probe_of(model);
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

// --- reports

TEST(DoctorReport, SaysAllThereIs) {
  const Findings findings = findings_of({.fault = Fault::no_scale});
  const std::string text = findings_text(findings);
  for (const char* part : {"score scale (fault, certain)", "where: encoder.0.self_attn", "and 2 more",
                           "cause:", "remedy:", "healthy: 0.3536, 1/√K"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  EXPECT_NE(findings_text({}).find("no finding"), std::string::npos);
}

TEST(DoctorReport, Json) {
  Finding f;
  f.check = "overfitting";
  f.step = 7;
  f.severity = Severity::note;
  f.evidence = {{"loss", std::nan(""), "falling"}};
  const auto json = nlohmann::json::parse(findings_json({f}));
  EXPECT_EQ(json["healthy"], true);
  EXPECT_EQ(json["findings"][0]["check"], "overfitting");
  EXPECT_EQ(json["findings"][0]["severity"], "note");
  EXPECT_EQ(json["findings"][0]["step"], 7);
  EXPECT_EQ(json["findings"][0]["evidence"][0]["measured"], "NaN");
  EXPECT_EQ(nlohmann::json::parse(findings_json({}))["findings"].size(), 0u);
}

TEST(Doctor, WantsAWholeProbe) { EXPECT_THROW(diagnose({}, {}), InputError); }

}  // namespace
}  // namespace glass
