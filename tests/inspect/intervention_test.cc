// What a change does to what the model says, against the model computed with the change made by hand.
#include <algorithm>

#include "glassformer/autograd/ops.h"
#include "glassformer/decode/search.h"
#include "glassformer/inspect/explain.h"
#include "inspect/asking.h"

namespace glass {
namespace {

using testing::Asking;
using Json = nlohmann::json;

const std::string source = "two dogs run here", target = "zwei hunde laufen";

class Intervention : public ::testing::Test {
 protected:
  Json change(const Json& question) { return asking_.posted(trace_ + "/intervene", question); }
  Json edit(const char* kind, int layer, int head, Dim query, const std::vector<double>& weights) {
    return change({{"change", "edit_row"},
                   {"kind", kind},
                   {"layer", layer},
                   {"head", head},
                   {"query", query},
                   {"weights", weights}});
  }
  const TranslationModel& model() const { return *asking_.saved().model; }
  std::vector<double> own_weights(AttentionKind kind, int layer, int head, Dim query) const {
    const auto e = explain_model(asking_.saved(), source, target, kind, layer, head);
    for (const HeadMatrix& m : e.steps) {
      if (m.name == "weights") return m.values.narrowed(0, query, query + 1).to_vector();
    }
    return {};
  }
  double loss() const { return loss_of(model()(pair_.source, pair_.source_lengths, pair_.target_input)); }
  double loss_of(const Tensor& logits) const { return cross_entropy(logits, pair_.target_output).item(); }
  double divergence(const Tensor& before, const Tensor& after) const {
    const Tensor p = log_softmax(before), q = log_softmax(after);
    return sum(exp(p) * (p - q)).item() / static_cast<double>(before.size(1));
  }

  Asking asking_;
  std::string trace_ = asking_.trace(source, target);
  PairTokens pair_ = tokens_of_pair(asking_.saved(), source, target);
};

TEST_F(Intervention, WithoutAHeadItsColumnsAreZero) {
  const Tensor before = model()(pair_.source, pair_.source_lengths, pair_.target_input);
  const Json answer = change({{"change", "drop_head"}, {"kind", "cross"}, {"layer", 1}, {"head", 1}});
  Tensor columns = asking_.saved().model->decoder.layers[1].cross_attn.output.weight.narrowed(1, 4, 8);
  columns.fill(0);
  const Tensor after = model()(pair_.source, pair_.source_lengths, pair_.target_input);
  EXPECT_NEAR(answer["loss"]["before"].get<double>(), loss_of(before), 1e-5);
  EXPECT_NEAR(answer["loss"]["after"].get<double>(), loss_of(after), 1e-5);
  EXPECT_NEAR(answer["divergence"].get<double>(), divergence(before, after), 1e-5);
  EXPECT_GT(answer["divergence"].get<double>(), 0);
  const Tensor p = softmax(after);
  for (Dim t = 0; t < 4; ++t) {
    const Json& token = answer["tokens"][static_cast<size_t>(t)];
    EXPECT_NEAR(token["after"].get<double>(), p.at({0, t, static_cast<Dim>(pair_.target_output.at({0, t}))}), 1e-6);
  }
  const auto greedy = search(model(), pair_.source, pair_.source_lengths, {})[0][0].tokens;
  EXPECT_EQ(answer["text"]["after"], asking_.saved().target->decode(greedy));
}

TEST_F(Intervention, TheModelIsAsItWasAfterwards) {
  const std::string before = asking_.ask(trace_).body;
  for (const Json& question : {Json{{"change", "drop_head"}, {"kind", "encoder"}, {"layer", 0}, {"head", 0}},
                               Json{{"change", "shuffle_positions"}, {"side", "source"}, {"seed", 4}},
                               Json{{"change", "shuffle_positions"}, {"side", "target"}, {"seed", 4}}}) {
    change(question);
    Json again = asking_.json(asking_.trace(source, target)), first = Json::parse(before);
    again.erase("id");
    first.erase("id");
    EXPECT_EQ(again, first) << question;
  }
}

TEST_F(Intervention, ARowsOwnWeightsChangeNothing) {
  const struct {
    const char* name;
    AttentionKind kind;
    int layer;
  } places[] = {{"encoder", AttentionKind::encoder, 0},
                {"decoder", AttentionKind::decoder, 0},
                {"cross", AttentionKind::cross, 1}};
  for (const auto& place : places) {
    for (Dim query = 0; query < 4; ++query) {
      const Json answer = edit(place.name, place.layer, 1, query, own_weights(place.kind, place.layer, 1, query));
      EXPECT_NEAR(answer["loss"]["after"].get<double>(), loss(), 1e-5) << place.name;
      EXPECT_LT(answer["divergence"].get<double>(), 1e-8) << place.name;
      EXPECT_EQ(answer["text"]["after"], answer["text"]["before"]) << place.name;
    }
  }
}

TEST_F(Intervention, WeightsAreMadeToSumToOne) {
  const Json one = edit("cross", 0, 0, 1, {0, 1, 1, 0, 0}), ten = edit("cross", 0, 0, 1, {0, 10, 10, 0, 0});
  EXPECT_EQ(one, ten);
  EXPECT_GT(one["divergence"].get<double>(), 0);
}

TEST_F(Intervention, AnEditedRowActsFromItsPositionOn) {
  const Json answer = edit("decoder", 0, 0, 2, {1, 0, 0, 0});
  for (size_t t = 0; t < 4; ++t) {
    const Json& token = answer["tokens"][t];
    if (t < 2) {
      EXPECT_EQ(token["before"], token["after"]);
    } else {
      EXPECT_NE(token["before"], token["after"]);
    }
  }
  const std::string begin = "zwei hunde";  // the rows before, which chose these
  EXPECT_EQ(answer["text"]["after"].get<std::string>().rfind(begin, 0), 0u);
  EXPECT_EQ(answer["text"]["before"].get<std::string>().rfind(begin, 0), 0u);
}

// A head that looks at one key alone gives this key's value: the same as silencing the head and adding that value
// through its columns.
TEST_F(Intervention, AllWeightOnOneKeyGivesItsValue) {
  const Json answer = edit("encoder", 0, 1, 3, {0, 0, 1, 0, 0});
  const EncoderLayer& layer = model().encoder.layers[0];
  const Tensor x = model().encoder_positions->embed(model().source_embedding(pair_.source), 0);
  const Tensor attended = layer.self_attn_residual(x, [&](const Tensor& z) {
    const MultiHeadAttention& attention = layer.self_attn;
    const Tensor q = split_heads(attention.query(z), 2), k = split_heads(attention.key(z), 2);
    const Tensor v = split_heads(attention.value(z), 2);
    Tensor context = scaled_dot_product_attention(q, k, v, AttentionMask::none(), 0.5).contiguous();  // [1,H,S,K]
    context.narrowed(1, 1, 2).narrowed(2, 3, 4).copy_from(v.narrowed(1, 1, 2).narrowed(2, 2, 3));
    return attention.output(merge_heads(context));
  });
  Tensor memory = layer.feed_forward_residual(attended, [&](const Tensor& z) { return layer.feed_forward(z); });
  memory = (*model().encoder.norm)(memory);
  const Tensor logits = model().logits(model().decode(pair_.target_input, memory, pair_.source_lengths));
  EXPECT_NEAR(answer["loss"]["after"].get<double>(), loss_of(logits), 1e-5);
}

TEST_F(Intervention, ShuffledPositionsAreTheSameForTheSameSeed) {
  const auto shuffle = [&](const char* side, int seed) {
    return change({{"change", "shuffle_positions"}, {"side", side}, {"seed", seed}});
  };
  EXPECT_EQ(shuffle("source", 1), shuffle("source", 1));
  EXPECT_GT(shuffle("source", 1)["divergence"].get<double>(), 0);
  EXPECT_GT(shuffle("target", 2)["divergence"].get<double>(), 0);
}

// Encoder and cross-attention know nothing of order but by the positions.
TEST_F(Intervention, ShuffledPositionsAreAReorderedSource) {
  const Json answer = change({{"change", "shuffle_positions"}, {"side", "source"}, {"seed", 5}});
  std::vector<int> order{0, 1, 2, 3, 4};
  int found = 0;
  do {
    std::vector<int32_t> tokens(5);
    for (size_t i = 0; i < 5; ++i) tokens[static_cast<size_t>(order[i])] = pair_.source.data<int32_t>()[i];
    const Tensor logits = model()(Tensor::from(tokens, {1, 5}), pair_.source_lengths, pair_.target_input);
    // Sums of float32 terms of size 1 in another order; no other order of the words comes as near.
    found += std::abs(loss_of(logits) - answer["loss"]["after"].get<double>()) < 1e-5;
  } while (std::next_permutation(order.begin(), order.end()));
  EXPECT_EQ(found, 1);
}

}  // namespace
}  // namespace glass
