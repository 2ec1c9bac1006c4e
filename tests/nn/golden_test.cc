// The modules against PyTorch: outputs and every gradient.
#include "golden/golden.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>

#include "glassformer/nn/stacks.h"

namespace glass::golden {
namespace {

// A module and how to call it on a case's inputs, which are taken with `in("x")`.
using Inputs = std::function<Tensor(const std::string& name)>;
struct Subject {
  std::shared_ptr<const Module> module;  // null for a function
  std::function<Tensor(const Inputs& in)> forward;
};

template <class M, class... Args>
std::shared_ptr<const M> make(Args&&... args) {
  return std::make_shared<const M>(nullptr, "", std::forward<Args>(args)...);
}

// A module of one input.
template <class M>
Subject of_x(std::shared_ptr<const M> module) {
  return {module, [module](const Inputs& in) { return (*module)(in("x")); }};
}

// keep [B,H,T,S] bool
AttentionMask own_mask(const Tensor& keep) {
  return AttentionMask::where([keep](Dim b, Dim h, Dim q, Dim k) { return keep.at({b, h, q, k}) != 0; });
}

AttentionMask mask_of(const Case& golden, const Inputs& in) {
  AttentionMask mask;
  if (golden.text("mask") == "causal") mask = mask & AttentionMask::causal();
  if (golden.has("input.lengths")) mask = mask & AttentionMask::lengths(in("lengths"));
  if (golden.has("input.keep")) mask = mask & own_mask(in("keep"));
  return mask;
}

StackOptions stack_options(const Case& golden) {
  StackOptions options;
  options.d_model = golden.integer("d_model");
  options.heads = golden.integer("heads");
  options.d_ff = golden.integer("d_ff");
  options.layers = static_cast<int>(golden.integer("layers"));
  options.norm = golden.text("norm") == "pre" ? NormScheme::pre : NormScheme::post;
  options.final_norm = golden.text("final_norm") == "true";
  options.activation = golden.text("activation") == "relu" ? Activation::relu : Activation::gelu;
  options.dropout = DropoutRates::all(0);
  return options;
}

Subject linear_subject(const Case& golden) {
  const bool with_bias = golden.has("parameter.bias");
  return of_x(make<Linear>(golden.integer("inner"), golden.integer("outer"), with_bias));
}

Subject embedding_subject(const Case& golden) {
  const auto module = make<TokenEmbedding>(golden.integer("vocabulary"), golden.integer("d_model"));
  return {module, [module](const Inputs& in) { return (*module)(in("ids")); }};
}

Subject gelu_subject(const Case& golden) {
  const GeluForm form = golden.text("form") == "tanh" ? GeluForm::tanh : GeluForm::exact;
  return {nullptr, [form](const Inputs& in) { return gelu(in("x"), form); }};
}

Subject feed_forward_subject(const Case& golden) {
  const Activation activation = golden.text("activation") == "relu" ? Activation::relu : Activation::gelu;
  return of_x(make<FeedForward>(golden.integer("d_model"), golden.integer("d_ff"), activation, 0.0));
}

Subject positions_subject(std::shared_ptr<const PositionScheme> module) {
  return {module, [module](const Inputs& in) { return module->embed(in("x"), 0); }};
}

Subject attention_subject(const Case& golden) {
  const AttentionOptions options{golden.integer("d_model"), golden.integer("heads"), 0.0, {}};
  const auto module = make<MultiHeadAttention>(options);
  const bool cross = golden.text("kind") == "CrossAttention";
  return {module, [module, cross, &golden](const Inputs& in) {
            const AttentionMask mask = mask_of(golden, in);
            return cross ? (*module)(in("x"), in("memory"), mask) : (*module)(in("x"), mask);
          }};
}

Subject product_subject(const Case& golden) {
  return {nullptr, [&golden](const Inputs& in) {
            const AttentionMask mask = golden.has("input.keep") ? own_mask(in("keep")) : AttentionMask::none();
            const Tensor bias = golden.has("input.bias") ? in("bias") : Tensor();
            return scaled_dot_product_attention(in("query"), in("key"), in("value"), mask, golden.number("scale"), 0,
                                                bias);
          }};
}

template <class M>
Subject encoder_subject(const Case& golden) {
  const auto module = make<M>(stack_options(golden));
  return {module, [module](const Inputs& in) { return (*module)(in("x"), AttentionMask::lengths(in("lengths"))); }};
}

template <class M>
Subject decoder_subject(const Case& golden) {
  const auto module = make<M>(stack_options(golden));
  return {module, [module](const Inputs& in) {
            return (*module)(in("x"), in("memory"), AttentionMask::lengths(in("self_lengths")),
                             AttentionMask::lengths(in("lengths")));
          }};
}

const std::map<std::string, std::function<Subject(const Case&)>> builders{
    {"Linear", linear_subject},
    {"LayerNorm", [](const Case& golden) { return of_x(make<LayerNorm>(golden.integer("d_model"))); }},
    {"TokenEmbedding", embedding_subject},
    {"gelu", gelu_subject},
    {"FeedForward", feed_forward_subject},
    {"SinusoidalPositions",
     [](const Case& golden) { return positions_subject(make<SinusoidalPositions>(golden.integer("d_model"))); }},
    {"LearnedPositions",
     [](const Case& golden) {
       return positions_subject(make<LearnedPositions>(golden.integer("max_positions"), golden.integer("d_model")));
     }},
    {"SelfAttention", attention_subject},
    {"CrossAttention", attention_subject},
    {"scaled_dot_product_attention", product_subject},
    {"EncoderLayer", encoder_subject<EncoderLayer>},
    {"Encoder", encoder_subject<Encoder>},
    {"DecoderLayer", decoder_subject<DecoderLayer>},
    {"Decoder", decoder_subject<Decoder>},
};

Differences run(Case& golden) {
  const Subject subject = builders.at(golden.text("kind"))(golden);
  if (subject.module) load_parameters(golden, *subject.module);
  std::map<std::string, Tensor> leaves;
  const Tensor output =
      subject.forward([&](const std::string& name) { return leaves.emplace(name, input(golden, name)).first->second; });
  Differences differences;
  differences.compare("output", output, golden.take("output"), forward_tolerance);
  backward(output, golden.take("output_grad"));
  if (subject.module) compare_gradients(golden, *subject.module, differences);
  for (const auto& [name, leaf] : leaves) compare_input_gradient(golden, name, leaf, differences);
  differences.add_not_taken(golden);
  return differences;
}

const std::vector<std::string> cases{
    "attention_causal",
    "attention_causal_and_lengths",
    "attention_head_width_1",
    "attention_heads_1",
    "attention_heads_2",
    "attention_heads_4",
    "attention_lengths",
    "attention_mask_for_each_head",
    "attention_no_mask",
    "attention_one_token",
    "attention_own_mask",
    "cross_attention_fewer_queries",
    "cross_attention_mask_for_each_head",
    "cross_attention_more_queries",
    "cross_attention_one_head",
    "decoder_layer_post",
    "decoder_layer_pre",
    "decoder_post",
    "decoder_pre",
    "decoder_pre_no_final_norm",
    "embedding",
    "encoder_layer_post",
    "encoder_layer_pre",
    "encoder_post",
    "encoder_post_final_norm",
    "encoder_pre",
    "feed_forward_gelu",
    "feed_forward_relu",
    "gelu_exact",
    "gelu_tanh",
    "layer_norm",
    "learned_positions",
    "linear",
    "linear_without_bias",
    "product_unscaled",
    "product_with_bias",
    "product_with_mask",
    "sinusoidal_16",
    "sinusoidal_21",
};

TEST(Golden, EachFileIsACase) { EXPECT_EQ(cases_in("nn"), cases); }

std::string case_name(const testing::TestParamInfo<std::string>& test) { return test.param; }

class GoldenModule : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Pytorch, GoldenModule, testing::ValuesIn(cases), case_name);

TEST_P(GoldenModule, EqualsPytorch) {
  Case golden("nn", GetParam());
  const Differences differences = run(golden);
  EXPECT_TRUE(differences.empty()) << differences.text();
}

// The comparison is not blind: a thousandth more in any one tensor of the file is found, and so is a tensor too many or
// too few. These cases have every kind of tensor, and none that is zero throughout.
class GoldenComparison : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Pytorch, GoldenComparison,
                         testing::Values("linear", "layer_norm", "embedding", "feed_forward_gelu", "learned_positions",
                                         "attention_causal_and_lengths", "product_with_bias", "encoder_layer_pre",
                                         "decoder_layer_post"),
                         case_name);

TEST_P(GoldenComparison, FindsAnyWrongTensor) {
  for (const std::string& name : Case("nn", GetParam()).names()) {
    Case golden("nn", GetParam());
    if (golden.take(name).dtype() != DType::f32 || has_no_gradient(name)) continue;
    golden.scale(name, 1.001F);
    EXPECT_FALSE(run(golden).empty()) << name;
  }
}

TEST_P(GoldenComparison, FindsTensorsTooManyAndTooFew) {
  Case golden("nn", GetParam());
  golden.insert("grad.nobody", Tensor::zeros({1}));
  EXPECT_FALSE(run(golden).empty());
  golden = Case("nn", GetParam());
  golden.remove("output_grad");
  EXPECT_THROW(run(golden), Error);
}

}  // namespace
}  // namespace glass::golden
