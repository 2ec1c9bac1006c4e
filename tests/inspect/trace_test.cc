#include "glassformer/inspect/trace.h"

#include <gtest/gtest.h>

#include "glassformer/autograd/ops.h"
#include "glassformer/autograd/tap.h"
#include "glassformer/base/error.h"
#include "glassformer/models/translation_model.h"

namespace glass {
namespace {

struct SmallModel {
  SmallModel() {
    config.d_model = 12;
    config.heads = 3;
    config.d_ff = 20;
    config.encoder_layers = config.decoder_layers = 2;
    config.source_vocabulary = config.target_vocabulary = 9;
    model = std::make_unique<TranslationModel>(config);
  }
  Tensor logits() const { return (*model)(source, lengths, target); }

  TransformerConfig config;
  std::unique_ptr<TranslationModel> model;
  Tensor source = Tensor::from<int32_t>({4, 5, 6, 3}, {1, 4}), lengths = Tensor::from<int32_t>({4}, {1});
  Tensor target = Tensor::from<int32_t>({2, 7, 8}, {1, 3});
};

TEST(Trace, LookingChangesNoBit) {
  const SmallModel small;
  const NoGrad values_only;
  const Tensor unseen = small.logits();
  Tensor seen;
  const Trace trace = Trace::record([&] { seen = small.logits(); });
  EXPECT_EQ(seen.to_vector(), unseen.to_vector());
  EXPECT_EQ(trace.at("logits").to_vector(), unseen.to_vector());
}

TEST(Trace, HasEachTensorUnderItsPath) {
  const SmallModel small;
  const NoGrad values_only;
  const Trace trace = Trace::record([&] { small.logits(); });
  EXPECT_EQ(trace.at("decoder.layers.1.cross_attn.scores").shape(), (Shape{1, 3, 3, 4}));
  EXPECT_EQ(trace.at("encoder.layers.0.self_attn.weights").shape(), (Shape{1, 3, 4, 4}));
  EXPECT_TRUE(trace.has("decoder.layers.0.self_attn.query_heads"));
  EXPECT_FALSE(trace.has("decoder.layers.2.self_attn.query_heads"));
}

TEST(Trace, WhatIsLeftOutOrSummedUpTakesNoMemory) {
  const SmallModel small;
  const NoGrad values_only;
  const Trace whole = Trace::record([&] { small.logits(); });
  const Trace trace =
      Trace::record([&] { small.logits(); }, {.left_out = {"encoder.*.weights"}, .summed_up = {"*.scores"}});
  EXPECT_FALSE(trace.has("encoder.layers.0.self_attn.weights"));
  EXPECT_TRUE(trace.entry("decoder.layers.0.self_attn.weights").value.defined());
  const std::string path = "decoder.layers.1.cross_attn.scores";
  EXPECT_FALSE(trace.entry(path).value.defined());
  EXPECT_THROW(trace.at(path), InputError);
  EXPECT_EQ(trace.entry(path).summary().numbers.max, whole.entry(path).summary().numbers.max);
  EXPECT_EQ(trace.entry(path).summary().shape, (Shape{1, 3, 3, 4}));
}

TEST(Trace, PatternsFindPaths) {
  const SmallModel small;
  const NoGrad values_only;
  const Trace trace = Trace::record([&] { small.logits(); });
  EXPECT_EQ(trace.matching("*.scores").size(), 2 + 2 * 2);
  EXPECT_EQ(trace.matching("decoder.layers.?.cross_attn.weights"),
            (std::vector<std::string>{"decoder.layers.0.cross_attn.weights", "decoder.layers.1.cross_attn.weights"}));
  EXPECT_EQ(trace.matching("logits"), std::vector<std::string>{"logits"});
  EXPECT_TRUE(trace.matching("logit").empty());
  EXPECT_EQ(trace.matching("*").size(), trace.entries().size());
}

TEST(Trace, AMissingPathNamesTheNearest) {
  const Trace trace = Trace::record([] { tap("scores", Tensor::zeros({1})); });
  try {
    trace.at("encoder.scores");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "trace: nothing was tapped at \"encoder.scores\"; there is \"scores\"");
  }
  EXPECT_THROW(Trace().at("scores"), InputError);
}

TEST(Trace, PatternsAreGlobs) {
  for (const char* pattern :
       {"*", "a.b.scores", "*.scores", "a*", "a.?.scores", "*b*", "**", "*a*b*s", "a.b.scores*"}) {
    EXPECT_TRUE(path_matches(pattern, "a.b.scores")) << pattern;
  }
  for (const char* pattern : {"", "a", "scores", "*.score", "?.scores", "a.b.scores?", "*a*a*"}) {
    EXPECT_FALSE(path_matches(pattern, "a.b.scores")) << pattern;
  }
  EXPECT_TRUE(path_matches("", ""));
  // Tried from every place, this would not end.
  EXPECT_FALSE(path_matches("*a*a*a*a*a*a*a*a*a*a*a*a*b", std::string(200, 'a')));
}

TEST(Trace, KeepsWhatItsPatternsStandFor) {
  const SmallModel small;
  const NoGrad values_only;
  const Trace trace = Trace::record([&] { small.logits(); }, {.patterns = {"*.cross_attn.scores", "logits"}});
  std::vector<std::string> paths;
  for (const TraceEntry& entry : trace.entries()) paths.push_back(entry.path);
  EXPECT_EQ(paths, (std::vector<std::string>{"decoder.layers.0.cross_attn.scores", "decoder.layers.1.cross_attn.scores",
                                             "logits"}));
}

TEST(Trace, StatisticsAloneAreThoseOfAllValues) {
  const TraceOptions lean{.keep_values = false};
  Trace running(lean), kept;
  for (int i = 0; i < 3; ++i) {
    const Tensor x = Tensor::from<float>({float(i), float(i * i), -1}, {3});
    const auto computation = [&] {
      tap("x", x);
      tap("y", x * 2.0);
    };
    running.extend(computation);
    kept.extend(computation);
  }
  ASSERT_EQ(running.entries().size(), 2u);
  EXPECT_EQ(kept.entries().size(), 6u);
  const TensorSummary summary = running.entry("y").summary();
  EXPECT_EQ(summary.tensors, 3);
  EXPECT_EQ(summary.shape, (Shape{3}));
  EXPECT_EQ(summary.numbers.count, 9);
  EXPECT_EQ(summary.numbers.max, 8);
  EXPECT_DOUBLE_EQ(summary.numbers.mean, 2 * (0 + 0 + 1 + 1 + 2 + 4 - 3) / 9.0);
  EXPECT_FALSE(running.entries()[0].value.defined());
  EXPECT_THROW(running.at("x"), InputError);
}

TEST(Trace, GradientsWhereThereAreAny) {
  Tensor x = Tensor::scalar(3).set_requires_grad(true);
  const Trace trace = Trace::record(
      [&] {
        const Tensor y = tap("y", x * 2.0);
        tap("constant", Tensor::scalar(1));
        tap("unused", x * 5.0);
        backward(y * y);
      },
      {.gradients = true});
  EXPECT_EQ(trace.entry("y").gradient_state, GradientState::kept);
  EXPECT_EQ(trace.entry("y").gradient.item(), 12);
  EXPECT_EQ(trace.entry("constant").gradient_state, GradientState::outside_graph);
  EXPECT_EQ(trace.entry("unused").gradient_state, GradientState::not_reached);
  EXPECT_FALSE(trace.entry("unused").gradient.defined());
}

TEST(Trace, RunningStatisticsOfGradients) {
  Tensor x = Tensor::scalar(3).set_requires_grad(true);
  Trace trace({.keep_values = false, .gradients = true});
  for (const double factor : {1.0, 3.0}) trace.extend([&] { backward(tap("y", x * 2.0) * factor); });
  const TensorSummary gradient = trace.entry("y").gradient_summary();
  EXPECT_EQ(gradient.tensors, 2);
  EXPECT_EQ(gradient.numbers.mean, 2);
  EXPECT_EQ(gradient.numbers.max, 3);
}

std::vector<std::vector<double>> parameter_gradients(const Module& module) {
  std::vector<std::vector<double>> all;
  for (NamedParameter& parameter : module.named_parameters()) {
    all.push_back(parameter.tensor.grad().defined() ? parameter.tensor.grad().to_vector() : std::vector<double>());
    parameter.tensor.set_grad({});
  }
  return all;
}

TEST(Trace, LookingAtGradientsAndOperationsChangesNoBit) {
  const SmallModel small;
  Tensor logits;
  const auto pass = [&] {
    logits = small.logits();
    backward(cross_entropy(logits, Tensor::from<int32_t>({7, 8, 3}, {1, 3})));
  };
  pass();
  const std::vector<double> unseen = logits.to_vector();
  const auto unseen_gradients = parameter_gradients(*small.model);
  Trace::record(pass, {.operations = true, .gradients = true});
  EXPECT_EQ(logits.to_vector(), unseen);
  EXPECT_EQ(parameter_gradients(*small.model), unseen_gradients);
}

TEST(Trace, OperationsStandUnderTheirModules) {
  const SmallModel small;
  const NoGrad values_only;
  const Trace trace = Trace::record([&] { small.logits(); }, {.operations = true});
  EXPECT_EQ(trace.entry("encoder.layers.0.self_attn.query.linear").source, TraceSource::operation);
  EXPECT_EQ(trace.at("decoder.layers.1.feed_forward_residual.norm.layer_norm").shape(), (Shape{1, 3, 12}));
  EXPECT_EQ(trace.at("output.linear").to_vector(), trace.at("logits").to_vector());
}

TEST(Trace, ParametersComeOnceWithTheirGradients) {
  const SmallModel small;  // its output layer is the target embedding
  Trace trace({.patterns = {"*embedding*", "output*"}, .gradients = true});
  trace.extend([&] { backward(sum(small.logits())); });
  trace.add_parameters(*small.model);
  EXPECT_FALSE(trace.has("output.weight"));
  EXPECT_EQ(trace.entry("target_embedding.weight").source, TraceSource::parameter);
  EXPECT_EQ(trace.entry("target_embedding.weight").gradient.shape(), (Shape{9, 12}));
  EXPECT_FALSE(trace.has("decoder.layers.0.self_attn.query.weight"));
}

}  // namespace
}  // namespace glass
