#include "glassformer/nn/stacks.h"

#include <cmath>

#include "autograd/testing.h"

namespace glass {
namespace {

StackOptions small_stack(NormScheme norm) {
  return {12, 3, 20, 2, norm, norm == NormScheme::pre, Activation::relu, DropoutRates::all(0.3), {}};
}

Tensor numbers(const Shape& shape, uint64_t seed) { return test::uniform(shape, seed, DType::f32); }

// Other sizes may be summed in another order: roundings of float32 on outputs of size 1.
void expect_near(const Tensor& got, const Tensor& want) {
  ASSERT_EQ(got.shape().text(), want.shape().text());
  const std::vector<double> a = got.to_vector(), b = want.to_vector();
  for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-5) << "element " << i;
}

TEST(Encoder, PaddingAndNeighboursChangeNothing) {
  const Encoder encoder(nullptr, "", small_stack(NormScheme::pre));
  const AttentionMask mask = AttentionMask::lengths(Tensor::from<int32_t>({3, 5}, {2}));
  const auto short_one = [](const Tensor& batch) { return batch.narrowed(0, 0, 1).narrowed(1, 0, 3); };
  const Tensor x = numbers({2, 5, 12}, 1);
  const Tensor y = encoder(x, mask);
  Tensor changed = x.clone();
  changed.narrowed(0, 0, 1).narrowed(1, 3, 5).fill(100);
  test::expect_same_bits(short_one(encoder(changed, mask)), short_one(y));
  expect_near(encoder(short_one(x).contiguous(), AttentionMask::none()), short_one(y));
}

TEST(Decoder, LaterTokensNeverChangeEarlierBits) {
  for (const NormScheme norm : {NormScheme::pre, NormScheme::post}) {
    const Decoder decoder(nullptr, "", small_stack(norm));
    const Tensor x = numbers({1, 6, 12}, 1), memory = numbers({1, 4, 12}, 2);
    const Tensor y = decoder(x, memory, AttentionMask::none(), AttentionMask::none());
    for (Dim t = 1; t < 6; ++t) {
      Tensor changed = x.clone();
      changed.narrowed(1, t, t + 1).fill(3);
      const Tensor z = decoder(changed, memory, AttentionMask::none(), AttentionMask::none());
      test::expect_same_bits(z.narrowed(1, 0, t), y.narrowed(1, 0, t));
      EXPECT_NE(z.narrowed(1, t, 6).to_vector(), y.narrowed(1, t, 6).to_vector());
    }
  }
}

TEST(Decoder, CachedEqualsUncachedInStepsAndInChunks) {
  const Decoder decoder(nullptr, "", small_stack(NormScheme::pre));
  const Tensor x = numbers({2, 6, 12}, 1), memory = numbers({2, 4, 12}, 2);
  const AttentionMask none;
  const Tensor whole = decoder(x, memory, none, none);
  for (const std::vector<Dim>& ends : {std::vector<Dim>{1, 2, 3, 4, 5, 6}, std::vector<Dim>{2, 5, 6}}) {
    DecoderCache cache;
    Tensors parts;
    Dim begin = 0;
    for (const Dim end : ends) {
      parts.push_back(decoder(x.narrowed(1, begin, end), memory, none, none, nullptr, &cache));
      begin = end;
    }
    expect_near(concat(parts, 1), whole);
    EXPECT_EQ(cache.length(), 6);
  }
}

TEST(EncoderLayer, DropsInTrainingOnlyAndAtEachPlace) {
  EncoderLayer layer(nullptr, "", small_stack(NormScheme::pre));
  const Tensor x = numbers({2, 5, 12}, 1);
  const auto output = [&] { return layer(x, AttentionMask::none()).to_vector(); };
  const std::vector<double> quiet = output();
  EXPECT_EQ(output(), quiet);
  layer.train();
  EXPECT_THROW(output(), Error);  // nothing to draw from
  const RandomScope random({1, 1, 0});
  const std::vector<double> all = output();
  EXPECT_NE(all, quiet);
  for (Dropout* dropout : {&layer.self_attn.dropout, &layer.feed_forward.dropout, &layer.self_attn_residual.dropout,
                           &layer.feed_forward_residual.dropout}) {
    const double before = dropout->rate;
    dropout->rate = 0;
    EXPECT_NE(output(), all) << dropout->path();
    dropout->rate = before;
  }
}

const StackOptions three_layers{64, 4, 128, 3, NormScheme::pre, true, Activation::relu, DropoutRates::all(0), {}};

// A uniform distribution's mean square is a third of its bound's.
TEST(Stack, EachMatrixOfEachLayerBeginsWithinItsBound) {
  const Encoder encoder(nullptr, "", three_layers);
  int matrices = 0;
  for (const NamedParameter& p : encoder.named_parameters()) {
    if (p.initial != Initial::matrix) continue;
    ++matrices;
    const double bound = std::sqrt(6.0 / static_cast<double>(p.tensor.size(0) + p.tensor.size(1)));
    double square = 0;
    for (const double value : p.tensor.to_vector()) {
      EXPECT_LE(std::abs(value), bound * (1 + 1e-6)) << p.name;  // the bound itself is rounded to float32
      square += value * value;
    }
    // At least 4096 draws: the deviation of their mean square is 0.5 % of the bound's square.
    EXPECT_NEAR(square / static_cast<double>(p.tensor.numel()), bound * bound / 3, 0.05 * bound * bound) << p.name;
  }
  EXPECT_GE(matrices, 3 * 3);  // in each layer the attention's output and both of the feed-forward at least
}

TEST(Stack, NoTwoMatricesBeginAlike) {
  const Encoder encoder(nullptr, "", three_layers);
  const auto parameters = encoder.named_parameters();
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Tensor& one = parameters[i].tensor;
    for (size_t j = 0; j < i && one.rank() == 2; ++j) {
      EXPECT_NE(one.to_vector(), parameters[j].tensor.to_vector()) << parameters[i].name << " " << parameters[j].name;
    }
  }
}

}  // namespace
}  // namespace glass
