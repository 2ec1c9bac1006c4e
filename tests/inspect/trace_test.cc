#include "glassformer/inspect/trace.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace glass
