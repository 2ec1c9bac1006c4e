#include "glassformer/inspect/trace_pair.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "glassformer/autograd/ops.h"
#include "glassformer/autograd/tap.h"
#include "glassformer/base/error.h"
#include "glassformer/inspect/trace_report.h"
#include "inspect/small_pair.h"

namespace glass {
namespace {

using testing::small_pair;
using testing::small_saved;

TEST(TracePair, TokensAreThoseOfTheModel) {
  const SavedTranslation saved = small_saved();
  const PairTokens pair = small_pair(saved);
  EXPECT_EQ(pair.source.shape(), (Shape{1, 3}));
  EXPECT_EQ(pair.source.at({0, 2}), eos_token);
  EXPECT_EQ(pair.target_input.at({0, 0}), bos_token);
  EXPECT_EQ(pair.target_output.at({0, 2}), eos_token);
  EXPECT_EQ(pair.target_input.at({0, 1}), pair.target_output.at({0, 0}));
  EXPECT_EQ(pair.source_pieces[0], "two");
  EXPECT_EQ(pair.target_pieces[1], "zwei");
  EXPECT_THROW(tokens_of_pair(saved, " ", "zwei"), InputError);
  const PairTokens own = tokens_of_pair(saved, "two dogs", {});  // its own translation, of some length
  EXPECT_EQ(own.target_output.size(1), static_cast<Dim>(own.target_pieces.size()));
  EXPECT_NO_THROW(tokens_of_pair(saved, "two", ""));
}

TEST(TracePair, SaysHowManyPositionsThereAre) {
  const SavedTranslation saved = small_saved(PositionKind::learned);
  EXPECT_NO_THROW(tokens_of_pair(saved, "two two two two two two", "zwei"));
  EXPECT_THROW(tokens_of_pair(saved, "two two two two two two two", "zwei"), InputError);
  EXPECT_THROW(tokens_of_pair(saved, "two", "zwei zwei zwei zwei zwei zwei zwei"), InputError);
}

TEST(TracePair, LogitsAndLossAreThoseOfTheModelAlone) {
  const SavedTranslation saved = small_saved();
  const PairTokens pair = small_pair(saved);
  const Tensor logits = (*saved.model)(pair.source, pair.source_lengths, pair.target_input);
  for (const bool gradients : {false, true}) {
    Trace trace({.gradients = gradients});
    const double loss = trace_pair(*saved.model, pair, trace);
    EXPECT_EQ(trace.at("logits").to_vector(), logits.to_vector());
    EXPECT_EQ(loss, cross_entropy(logits, pair.target_output).item());
    EXPECT_EQ(loss, trace.at("loss").item());
  }
}

TEST(TracePair, ParametersKeepTheirOwnGradients) {
  const SavedTranslation saved = small_saved();
  const PairTokens pair = small_pair(saved);
  backward(cross_entropy((*saved.model)(pair.source, pair.source_lengths, pair.target_input), pair.target_output));
  const std::string name = "encoder.layers.0.feed_forward.inner.weight";
  const Tensor own = saved.model->encoder.layers[0].feed_forward.inner.weight.grad();
  const std::vector<double> before = own.to_vector();
  Trace trace({.gradients = true});
  trace_pair(*saved.model, pair, trace);
  EXPECT_EQ(trace.entry(name).gradient.to_vector(), before);  // not added to what was there
  EXPECT_TRUE(saved.model->encoder.layers[0].feed_forward.inner.weight.grad().same_as(own));
  EXPECT_EQ(own.to_vector(), before);
}

TEST(TracePair, SaysWhyAGradientIsNotThere) {
  const SavedTranslation saved = small_saved();
  Trace trace({.gradients = true});
  trace_pair(*saved.model, small_pair(saved), trace);
  EXPECT_EQ(trace.entry("decoder.layers.0.cross_attn.scores").gradient_state, GradientState::outside_graph);
  EXPECT_EQ(trace.entry("decoder.layers.0.cross_attn.context").gradient_state, GradientState::kept);
  EXPECT_EQ(trace.entry("encoder.layers.0.self_attn.query_heads").gradient_state, GradientState::kept);
  const std::string text = trace_text(trace);
  EXPECT_NE(text.find("logits.grad"), std::string::npos);
  EXPECT_EQ(text.find("scores.grad"), std::string::npos);
  EXPECT_NE(text.find("fused attention never forms it"), std::string::npos);
  const auto json = nlohmann::json::parse(trace_json(trace));
  for (const auto& tensor : json) {
    const std::string path = tensor["path"];
    if (path.ends_with(".scores")) {
      EXPECT_TRUE(tensor["gradient"].contains("none")) << path;
    }
    if (path == "logits") {
      EXPECT_EQ(tensor["gradient"]["count"], tensor["count"]);
    }
  }
}

TEST(TraceReport, ListsNumbersOnceOrRunning) {
  const SavedTranslation saved = small_saved();
  Trace kept({.patterns = {"logits"}}), running({.patterns = {"logits"}, .keep_values = false});
  for (int i = 0; i < 2; ++i) trace_pair(*saved.model, small_pair(saved), running);
  trace_pair(*saved.model, small_pair(saved), kept);
  EXPECT_EQ(trace_text(kept).find("tensors"), std::string::npos);
  EXPECT_NE(trace_text(running).find("tensors"), std::string::npos);
  const auto once = nlohmann::json::parse(trace_json(kept))[0], twice = nlohmann::json::parse(trace_json(running))[0];
  EXPECT_EQ(once["shape"], (std::vector<int>{1, 3, 7}));
  EXPECT_EQ(twice["tensors"], 2);
  EXPECT_EQ(once["max"], twice["max"]);
  EXPECT_EQ(once["type"], "float32");
}

TEST(TraceReport, ATensorWithoutAFiniteNumber) {
  const Trace trace = Trace::record([] { tap("x", Tensor::full({2}, std::numeric_limits<double>::quiet_NaN())); });
  EXPECT_NE(trace_text(trace).find(" -  "), std::string::npos);
  const auto json = nlohmann::json::parse(trace_json(trace))[0];
  EXPECT_TRUE(json["mean"].is_null());
  EXPECT_EQ(json["non_finite"], 2);
}

}  // namespace
}  // namespace glass
