// What must hold of a whole model whatever its weights are.
#include <gtest/gtest.h>

#include "autograd/testing.h"
#include "glassformer/models/forecast_model.h"
#include "glassformer/models/translation_model.h"
#include "models/small_config.h"

namespace glass {
namespace {

TransformerConfig config_of(NormScheme norm, PositionKind positions) {
  TransformerConfig c = test::small_config();
  c.norm = norm;
  c.positions = positions;
  c.max_positions = 9;
  return c;
}

const std::vector<TransformerConfig> configs{
    config_of(NormScheme::pre, PositionKind::sinusoidal), config_of(NormScheme::pre, PositionKind::learned),
    config_of(NormScheme::post, PositionKind::sinusoidal), config_of(NormScheme::post, PositionKind::learned)};

const Tensor source = Tensor::from<int32_t>({4, 5, 6, 3, 7, 3, 0, 0, 9, 8, 3, 0}, {3, 4});
const Tensor lengths = Tensor::from<int32_t>({4, 2, 3}, {3});
const Tensor target = Tensor::from<int32_t>({2, 8, 9, 4, 5, 2, 4, 5, 10, 6, 2, 7, 7, 1, 3}, {3, 5});

// Other shapes may be summed in another order: roundings of float32 on logits of size 1.
constexpr double rounding = 1e-5;

void expect_near(const Tensor& got, const Tensor& want) {
  ASSERT_EQ(got.shape().text(), want.shape().text());
  const std::vector<double> a = got.to_vector(), b = want.to_vector();
  for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], rounding) << "element " << i;
}

Tensor row(const Tensor& x, Dim b) { return x.narrowed(0, b, b + 1); }

// ids with one more column of `id`. [B,T] -> [B,T+1]
Tensor one_column_more(const Tensor& ids, int32_t id) {
  const Dim batch = ids.size(0), count = ids.size(1);
  Tensor out = Tensor::full({batch, count + 1}, id, DType::i32);
  out.narrowed(1, 0, count).copy_from(ids);
  return out;
}

TEST(Properties, ALaterTokenNeverChangesTheBitsOfAnEarlierOutput) {
  for (const TransformerConfig& config : configs) {
    const TranslationModel model(config);
    const Tensor before = model(source, lengths, target);
    for (Dim t = 1; t < target.size(1); ++t) {
      Tensor changed = target.clone();
      changed.narrowed(1, t, target.size(1)).fill(1);
      const Tensor after = model(source, lengths, changed);
      test::expect_same_bits(after.narrowed(1, 0, t), before.narrowed(1, 0, t));
      EXPECT_NE(after.narrowed(1, t, t + 1).to_vector(), before.narrowed(1, t, t + 1).to_vector());
    }
  }
}

// Nor is there a gradient from an earlier output to a later number.
TEST(Properties, NoGradientFlowsToALaterInput) {
  TransformerConfig config = config_of(NormScheme::pre, PositionKind::sinusoidal);
  config.input_features = 2;
  const ForecastModel model(config);
  const Tensor history = test::uniform({2, 6, 2}, 1, DType::f32);
  const Tensor previous = test::leaf(test::uniform({2, 5, 2}, 2, DType::f32));
  backward(sum(slice(model(history, previous), 1, 2, 3)));
  for (const double value : previous.grad().narrowed(1, 3, 5).to_vector()) EXPECT_EQ(value, 0);
  for (Dim t = 0; t < 3; ++t) EXPECT_NE(previous.grad().narrowed(1, t, t + 1).to_vector()[0], 0);
}

TEST(Properties, WhatStandsInThePaddingChangesNothing) {
  for (const TransformerConfig& config : configs) {
    const TranslationModel model(config);
    const Tensor before = model(source, lengths, target);
    Tensor changed = source.clone();
    row(changed, 1).narrowed(1, 2, 4).fill(10);
    row(changed, 2).narrowed(1, 3, 4).fill(1);
    test::expect_same_bits(model(changed, lengths, target), before);
    expect_near(model(one_column_more(source, 5), lengths, target), before);
    expect_near(model(source, lengths, one_column_more(target, 5)).narrowed(1, 0, 5), before);
  }
}

TEST(Properties, ABatchOfOneIsARowOfABatch) {
  for (const TransformerConfig& config : configs) {
    const TranslationModel model(config);
    const Tensor together = model(source, lengths, target);
    for (Dim b = 0; b < 3; ++b) {
      expect_near(model(row(source, b), row(lengths, b), row(target, b)), row(together, b));
      const Tensor unpadded = row(source, b).narrowed(1, 0, static_cast<Dim>(lengths.at({b})));
      expect_near(model(unpadded, row(lengths, b), row(target, b)), row(together, b));
    }
  }
}

TEST(Properties, TheOrderOfTokensMatters) {
  for (const TransformerConfig& config : configs) {
    const TranslationModel model(config);
    const Tensor one = Tensor::from<int32_t>({4, 5, 6}, {1, 3}), other = Tensor::from<int32_t>({5, 4, 6}, {1, 3});
    const Tensor three = Tensor::from<int32_t>({3}, {1}), begin = row(target, 0);
    EXPECT_NE(model(one, three, begin).to_vector(), model(other, three, begin).to_vector());
  }
}

TEST(Properties, EachDropoutRateActsAloneAndInTrainingOnly) {
  const auto with_rate = [](double DropoutRates::*rate, bool training) {
    TransformerConfig config = config_of(NormScheme::pre, PositionKind::sinusoidal);
    config.dropout = DropoutRates::all(0);
    config.dropout.*rate = 0.5;
    TranslationModel model(config);
    model.train(training);
    const RandomScope random({1, 1, 0});
    return model(source, lengths, target).to_vector();
  };
  const std::vector<double> quiet = with_rate(&DropoutRates::embedding, false);
  for (double DropoutRates::*rate :
       {&DropoutRates::embedding, &DropoutRates::attention, &DropoutRates::feed_forward, &DropoutRates::residual}) {
    EXPECT_EQ(with_rate(rate, false), quiet);
    EXPECT_NE(with_rate(rate, true), quiet);
    EXPECT_EQ(with_rate(rate, true), with_rate(rate, true));  // the same draw for the same step
  }
}

void collect_dropouts(Module& module, std::vector<Dropout*>& into) {
  for (Module* child : module.children()) {
    if (auto* dropout = dynamic_cast<Dropout*>(child)) into.push_back(dropout);
    collect_dropouts(*child, into);
  }
}

TEST(Properties, EachDropoutOfTheModelActsAlone) {
  TransformerConfig config = config_of(NormScheme::pre, PositionKind::sinusoidal);
  config.encoder_layers = config.decoder_layers = 1;
  config.dropout = DropoutRates::all(0);
  TranslationModel model(config);
  std::vector<Dropout*> dropouts;
  collect_dropouts(model, dropouts);
  // On both embeddings; in each layer on the weights of its attentions, in the feed-forward and on each sub-layer's
  // output.
  ASSERT_EQ(dropouts.size(), 2U + (1 + 1 + 2) + (2 + 1 + 3));
  const std::vector<double> quiet = model(source, lengths, target).to_vector();
  model.train();
  const RandomScope random({1, 1, 0});
  for (Dropout* dropout : dropouts) {
    dropout->rate = 0.5;
    EXPECT_NE(model(source, lengths, target).to_vector(), quiet) << dropout->path();
    dropout->rate = 0;
  }
  EXPECT_EQ(model(source, lengths, target).to_vector(), quiet);
}

TEST(Properties, PreAndPostNormAreToldApart) {
  const TranslationModel pre(config_of(NormScheme::pre, PositionKind::sinusoidal));
  const TranslationModel post(config_of(NormScheme::post, PositionKind::sinusoidal));
  // A Post-LN memory is normalised without a final norm: mean 0 over D. That of Pre-LN is, by its final norm only.
  EXPECT_FALSE(post.encoder.norm.has_value());
  EXPECT_TRUE(pre.encoder.norm.has_value());
  const auto largest_mean = [](const Tensor& x) { return max(mul(mean(x, -1), mean(x, -1))).item(); };
  EXPECT_LT(largest_mean(post.encode(source, lengths)), 1e-10);
  TransformerConfig bare = config_of(NormScheme::pre, PositionKind::sinusoidal);
  bare.final_norm = false;
  EXPECT_GT(largest_mean(TranslationModel(bare).encode(source, lengths)), 1e-4);
}

TEST(Properties, LearnedPositionsEndWithAClearError) {
  const TranslationModel model(config_of(NormScheme::pre, PositionKind::learned));
  const Tensor too_long = Tensor::full({1, 10}, 4, DType::i32), its_length = Tensor::from<int32_t>({10}, {1});
  test::expect_error<ValueError>([&] { model(too_long, its_length, row(target, 0)); },
                                 {"10 tokens", "9 positions", "max_positions"});
}

TEST(Properties, TokensOutsideTheVocabularyAreAClearError) {
  const TranslationModel model(configs[0]);
  const Tensor bad = Tensor::from<int32_t>({4, 11}, {1, 2}), two = Tensor::from<int32_t>({2}, {1});
  test::expect_error<ValueError>([&] { model(bad, two, row(target, 0)); }, {"11", "source_embedding"});
}

}  // namespace
}  // namespace glass
