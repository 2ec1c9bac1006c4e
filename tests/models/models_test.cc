#include <gtest/gtest.h>

#include <set>

#include "glassformer/base/error.h"
#include "glassformer/base/threads.h"
#include "glassformer/models/forecast_model.h"
#include "glassformer/models/translation_model.h"
#include "glassformer/nn/parameter_store.h"

namespace glass {
namespace {

TransformerConfig small(TieEmbeddings tie = TieEmbeddings::output) {
  TransformerConfig c;
  c.d_model = 15;
  c.heads = 3;
  c.d_ff = 20;
  c.encoder_layers = c.decoder_layers = 2;
  c.source_vocabulary = c.target_vocabulary = 11;
  c.tie_embeddings = tie;
  return c;
}

const Tensor source = Tensor::from<int32_t>({4, 5, 6, 3, 7, 3, 0, 0}, {2, 4});
const Tensor lengths = Tensor::from<int32_t>({4, 2}, {2});
const Tensor target = Tensor::from<int32_t>({2, 8, 9, 2, 4, 5}, {2, 3});

TEST(TranslationModel, ShapesAndPadding) {
  const TranslationModel model(small());
  const Tensor logits = model(source, lengths, target);
  EXPECT_EQ(logits.shape(), (Shape{2, 3, 11}));
  Tensor changed = source.clone();
  changed.narrowed(0, 1, 2).narrowed(1, 2, 4).fill(9);
  EXPECT_EQ(model(changed, lengths, target).to_vector(), logits.to_vector());
}

TEST(TranslationModel, TiedWeightsAreOneParameter) {
  const auto count = [](TieEmbeddings tie) {
    TranslationModel model(small(tie));
    return ParameterStore(model).entries().size();
  };
  EXPECT_EQ(count(TieEmbeddings::none), count(TieEmbeddings::output) + 2);  // output.weight and output.bias
  EXPECT_EQ(count(TieEmbeddings::output), count(TieEmbeddings::all) + 1);
  TransformerConfig wrong = small(TieEmbeddings::all);
  wrong.target_vocabulary = 12;
  EXPECT_THROW(TranslationModel{wrong}, ValueError);
}

TEST(TranslationModel, SeedsAndTwins) {
  TransformerConfig c = small();
  const TranslationModel a(c), b(c);
  c.seed = 2;
  const TranslationModel other(c);
  EXPECT_EQ(a(source, lengths, target).to_vector(), b(source, lengths, target).to_vector());
  EXPECT_NE(a(source, lengths, target).to_vector(), other(source, lengths, target).to_vector());
}

TEST(TranslationModel, GradientsHaveTheSameBitsForAnyNumberOfThreads) {
  std::vector<double> first;
  for (const int count : {1, 2, 3}) {
    set_threads(count);
    TranslationModel model(small());
    ParameterStore store(model);
    backward(cross_entropy(model(source, lengths, target), target, {0.1, 0}));
    if (first.empty()) first = store.grads().to_vector();
    EXPECT_EQ(store.grads().to_vector(), first);
  }
  set_threads(2);
}

TEST(ForecastModel, FeedsItsPredictionsBack) {
  TransformerConfig c = small();
  c.input_features = 2;
  const ForecastModel model(c);
  const Tensor history = Tensor::full({1, 4, 2}, 0.5);
  const Tensor forecast = model.forecast(history, 3);
  EXPECT_EQ(forecast.shape(), (Shape{1, 3, 2}));
  const Tensor previous = concat({history.narrowed(1, 3, 4), forecast.narrowed(1, 0, 2)}, 1);
  const auto want = model(history, previous).to_vector(), got = forecast.to_vector();
  for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-5);  // other sizes are summed in another order
}

TEST(Config, RoundTripAndErrors) {
  TransformerConfig c = small(TieEmbeddings::none);
  c.norm = NormScheme::post;
  c.final_norm = true;
  c.attention_scale = AttentionScale::fixed(0.125);
  c.positions = PositionKind::learned;
  const std::string json = config_to_json(c);
  EXPECT_EQ(config_to_json(config_from_json(json)), json);
  EXPECT_THROW(config_from_json("{\"d_modle\": 4}"), InputError);
  EXPECT_THROW(config_from_json("{\"d_model\": \"4\"}"), InputError);
  EXPECT_THROW(config_from_json("{\"d_model\": 10, \"heads\": 3}"), InputError);
  EXPECT_THROW(config_from_json("{\"norm\": \"middle\"}"), InputError);
  EXPECT_THROW(config_from_json("[]"), InputError);
  EXPECT_THROW(config_from_json("{"), InputError);
}

}  // namespace
}  // namespace glass
