#include "glassformer/inspect/explain.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "glassformer/base/error.h"
#include "glassformer/inspect/explain_report.h"

namespace glass {
namespace {

const HeadMatrix& step(const AttentionExplanation& e, const std::string& name) {
  for (const HeadMatrix& matrix : e.steps) {
    if (matrix.name == name) return matrix;
  }
  throw std::runtime_error("no step " + name);
}

// The four steps redone in double from the projections shown.
void expect_consistent(const AttentionExplanation& e) {
  const Tensor &query = step(e, "query").values, &key = step(e, "key").values, &value = step(e, "value").values;
  const HeadMatrix scores = step(e, "scores"), weights = step(e, "weights");
  const Tensor& context = step(e, "context").values;
  const Dim t = query.size(0), s = key.size(0), width = query.size(1);
  ASSERT_EQ(scores.values.shape(), (Shape{t, s}));
  for (Dim i = 0; i < t; ++i) {
    double total = 0, sum = 0;
    std::vector<double> exponentials;
    for (Dim j = 0; j < s; ++j) {
      double dot = 0;
      for (Dim k = 0; k < width; ++k) dot += query.at({i, k}) * key.at({j, k});
      EXPECT_NEAR(scores.values.at({i, j}), dot * e.scale, 1e-5);
      exponentials.push_back(weights.allowed.at({i, j}) != 0 ? std::exp(dot * e.scale) : 0);
      total += exponentials.back();
    }
    for (Dim j = 0; j < s; ++j) {
      EXPECT_NEAR(weights.values.at({i, j}), exponentials[static_cast<size_t>(j)] / total, 1e-5);
      sum += weights.values.at({i, j});
    }
    EXPECT_NEAR(sum, 1, 1e-5);
    for (Dim k = 0; k < width; ++k) {
      double mixed = 0;
      for (Dim j = 0; j < s; ++j) mixed += weights.values.at({i, j}) * value.at({j, k});
      EXPECT_NEAR(context.at({i, k}), mixed, 1e-5);
    }
  }
}

FreshAttention fresh(AttentionScale scale = {}, AttentionMask mask = {}) { return {12, 3, 1, scale, mask}; }

TEST(Explain, FreshStepsFollowFromEachOther) {
  for (const AttentionMask& mask : {AttentionMask::none(), AttentionMask::causal()}) {
    for (Dim head = 0; head < 3; ++head) expect_consistent(explain_fresh("cat sat on the mat", fresh({}, mask), head));
  }
  expect_consistent(explain_fresh("one", fresh(), 0));
}

TEST(Explain, ShapesWalkThroughHeadsAndBack) {
  const auto e = explain_fresh("cat sat mat", fresh(), 0);
  std::vector<std::string> shapes;
  for (const ShapeOnTheWay& place : e.walk) shapes.push_back(place.shape.text());
  EXPECT_EQ(shapes, (std::vector<std::string>{"[1,3,12]", "[1,3,12]", "[1,3,3,4]", "[1,3,3,4]", "[1,3,3,3]",
                                              "[1,3,3,4]", "[1,3,3,4]", "[1,3,12]", "[1,3,12]"}));
  EXPECT_EQ(step(e, "scores").rows, (std::vector<std::string>{"cat", "sat", "mat"}));
}

TEST(Explain, TheScaleCanBeLeftOut) {
  const auto scaled = explain_fresh("cat sat mat", fresh(), 1);
  const auto bare = explain_fresh("cat sat mat", fresh(AttentionScale::none()), 1);
  EXPECT_DOUBLE_EQ(scaled.scale, 0.5);
  EXPECT_DOUBLE_EQ(bare.scale, 1);
  EXPECT_NEAR(step(bare, "scores").values.at({2, 1}), 2 * step(scaled, "scores").values.at({2, 1}), 1e-5);
  EXPECT_EQ(step(scaled, "scores").formula, "Q Kᵀ / √4");
  EXPECT_EQ(step(bare, "scores").formula, "Q Kᵀ");
}

TEST(Explain, AFreshSeedGivesItsOwnNumbersAlways) {
  FreshAttention other = fresh();
  other.seed = 2;
  const auto a = step(explain_fresh("a b", fresh(), 0), "query").values.to_vector();
  EXPECT_EQ(a, step(explain_fresh("a b", fresh(), 0), "query").values.to_vector());
  EXPECT_NE(a, step(explain_fresh("a b", other, 0), "query").values.to_vector());
}

TEST(Explain, RefusesWhatIsNotThere) {
  EXPECT_THROW(explain_fresh("  ", fresh(), 0), InputError);
  EXPECT_THROW(explain_fresh("a", fresh(), 3), InputError);
  EXPECT_THROW(explain_fresh("a", fresh(), -4), InputError);
  EXPECT_NO_THROW(explain_fresh("a", fresh(), -3));
  EXPECT_THROW(explain_fresh("a", {10, 3, 1, {}, {}}, 0), InputError);
}

SavedTranslation small_saved() {
  VocabularyOptions options;
  options.model = "word";
  options.min_frequency = 1;
  SavedTranslation saved;
  saved.source = train_vocabulary({"two dogs run here"}, options);
  saved.target = train_vocabulary({"zwei hunde laufen"}, options);
  TransformerConfig config;
  config.d_model = 12;
  config.heads = 3;
  config.d_ff = 20;
  config.encoder_layers = 1;
  config.decoder_layers = 2;
  config.source_vocabulary = saved.source->size();
  config.target_vocabulary = saved.target->size();
  saved.model = std::make_unique<TranslationModel>(config);
  return saved;
}

TEST(Explain, EachAttentionOfAModel) {
  const SavedTranslation saved = small_saved();
  const auto encoder = explain_model(saved, "two dogs", "zwei hunde", AttentionKind::encoder, 0, 2);
  EXPECT_EQ(encoder.path, "encoder.layers.0.self_attn");
  EXPECT_EQ(step(encoder, "scores").columns.size(), 3u);  // with EOS
  const auto decoder = explain_model(saved, "two dogs", "zwei hunde", AttentionKind::decoder, -1, 0);
  EXPECT_EQ(decoder.path, "decoder.layers.1.self_attn");
  EXPECT_EQ(step(decoder, "weights").allowed.at({0, 1}), 0);  // BOS sees itself alone
  EXPECT_EQ(step(decoder, "weights").values.at({0, 0}), 1);
  const auto cross = explain_model(saved, "two dogs run", "zwei hunde", AttentionKind::cross, 0, -1);
  EXPECT_EQ(cross.head, 2);
  EXPECT_EQ(step(cross, "weights").values.shape(), (Shape{3, 4}));
  for (const auto& e : {encoder, decoder, cross}) expect_consistent(e);
  EXPECT_THROW(explain_model(saved, "two", "zwei", AttentionKind::encoder, 1, 0), InputError);
}

TEST(Explain, WithoutATargetItIsTheModelsOwn) {
  const SavedTranslation saved = small_saved();
  const auto e = explain_model(saved, "two dogs", {}, AttentionKind::cross, 0, 0);
  EXPECT_GE(step(e, "weights").rows.size(), 1u);
  EXPECT_EQ(step(e, "weights").rows[0], saved.target->piece(bos_token));
  expect_consistent(e);
}

TEST(ExplainText, MarksMaskedCellsAndSumsRows) {
  const auto e = explain_fresh("cat sat mat", fresh({}, AttentionMask::causal()), 0);
  const std::string text = explanation_text(e, {});
  EXPECT_NE(text.find("Shapes on the way"), std::string::npos);
  for (const char* title : {"1. Project", "2. Scores", "3. Softmax", "4. Weighted sum"}) {
    EXPECT_NE(text.find(title), std::string::npos) << title;
  }
  EXPECT_NE(text.find("cat   1.000  masked  masked    1.000"), std::string::npos) << text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos);  // no colours unless asked for
  EXPECT_NE(explanation_text(e, {.color = true}).find("\x1b[48;2;"), std::string::npos);
  const std::string third = explanation_text(e, {.step = 3});
  EXPECT_EQ(third.find("2. Scores"), std::string::npos);
  EXPECT_NE(third.find("3. Softmax"), std::string::npos);
}

TEST(ExplainText, WideMatricesEndInAnEllipsisUnlessAllIsAsked) {
  const auto e = explain_fresh("cat sat", {64, 2, 1, {}, {}}, 0);
  EXPECT_NE(explanation_text(e, {}).find("(12 of 32 columns)"), std::string::npos);
  EXPECT_EQ(explanation_text(e, {.most_columns = 0}).find("columns)"), std::string::npos);
}

TEST(ExplainText, IdeographsKeepTheColumnsAligned) {
  const std::string text = explanation_text(explain_fresh("汤姆 a", fresh(), 0), {.step = 3});
  EXPECT_NE(text.find("\n   汤姆   "), std::string::npos) << text;
  EXPECT_NE(text.find("\n   a      "), std::string::npos) << text;
}

TEST(ExplainJson, HoldsEveryNumber) {
  const auto e = explain_fresh("cat sat mat", fresh({}, AttentionMask::causal()), 0);
  const auto json = nlohmann::json::parse(explanation_json(e, 0));
  ASSERT_EQ(json["steps"].size(), 6u);
  EXPECT_EQ(json["steps"][4]["name"], "weights");
  EXPECT_EQ(json["steps"][4]["masked"][0][1], true);
  EXPECT_TRUE(json["steps"][3]["values"][0][1].is_null());
  EXPECT_EQ(json["steps"][4]["values"][2][1].get<double>(), step(e, "weights").values.at({2, 1}));
  EXPECT_EQ(nlohmann::json::parse(explanation_json(e, 2))["steps"].size(), 1u);
}

}  // namespace
}  // namespace glass
