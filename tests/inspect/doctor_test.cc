#include "glassformer/inspect/doctor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "glassformer/base/error.h"
#include "glassformer/base/random.h"
#include "glassformer/inspect/finding_report.h"
#include "inspect/doctor_testing.h"

namespace glass {
namespace {

using namespace test;

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

TEST(DoctorHealthy, ATrainedModel) {
  for (const NormScheme norm : {NormScheme::pre, NormScheme::post}) {
    PlantedModel model({.norm = norm, .tied = true});
    Probe probe = probe_of(model);
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
  const Probe probe = probe_of(model);
  const ProbeBatch batch = real_batch(probe);
  const auto before = model(batch.source, batch.source_lengths, batch.target).to_vector();
  diagnose(probe, batch);
  EXPECT_EQ(before, model(batch.source, batch.source_lengths, batch.target).to_vector());
  for (const NamedParameter& p : model.named_parameters()) EXPECT_FALSE(p.tensor.grad().defined()) << p.name;
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
