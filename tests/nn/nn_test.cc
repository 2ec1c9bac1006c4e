#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <set>

#include "glassformer/base/error.h"
#include "glassformer/base/random.h"
#include "glassformer/nn/parameter_store.h"
#include "glassformer/nn/stacks.h"

namespace glass {
namespace {

Tensor random_tensor(const Shape& shape, uint64_t seed) {
  Random random(seed);
  Tensor out = Tensor::empty(shape);
  for (Dim i = 0; i < out.numel(); ++i) out.data<float>()[i] = random.normal();
  return out;
}

bool same_bits(const Tensor& a, const Tensor& b) { return a.to_vector() == b.to_vector(); }

double relative_difference(const Tensor& a, const Tensor& b) {
  const auto x = a.to_vector(), y = b.to_vector();
  double difference = 0, norm = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    difference += (x[i] - y[i]) * (x[i] - y[i]);
    norm += y[i] * y[i];
  }
  return std::sqrt(difference / norm);
}

// Other sizes may be summed in another order: a few hundred roundings of float32.
constexpr double rounding = 1e-5;

TEST(Attention, HeadsMustDivide) {
  try {
    MultiHeadAttention(nullptr, "", {10, 3});
    FAIL();
  } catch (const ShapeError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("10"), std::string::npos);
    EXPECT_NE(text.find("3"), std::string::npos);
  }
}

TEST(Attention, CrossAttentionTakesAnyLengths) {
  const Tensor q = random_tensor({2, 2, 3, 4}, 1), k = random_tensor({2, 2, 7, 4}, 2), v = random_tensor({2, 2, 7, 5}, 3);
  EXPECT_EQ(scaled_dot_product_attention(q, k, v, {}, 0.5).shape(), (Shape{2, 2, 3, 5}));
  EXPECT_THROW(scaled_dot_product_attention(q, k, random_tensor({2, 2, 6, 5}, 3), {}, 0.5), ShapeError);
}

TEST(Attention, SplittingHeadsIsMoreThanAReshape) {
  const Tensor x = Tensor::arange(2 * 3 * 4, DType::f32).reshaped({2, 3, 4});
  const Tensor heads = split_heads(x, 2);  // [2,2,3,2]
  EXPECT_EQ(heads.at({0, 1, 2, 0}), x.at({0, 2, 2}));  // head 1 of position 2 begins at column 2
  EXPECT_TRUE(same_bits(merge_heads(heads), x));
  EXPECT_FALSE(same_bits(x.reshaped({2, 2, 3, 2}), heads));
}

TEST(Attention, FullyMaskedRowsGiveZerosAndNoGradient) {
  MultiHeadAttention attention(nullptr, "", {8, 2});
  Tensor x = random_tensor({2, 3, 8}, 1);
  x.set_requires_grad(true);
  const Tensor lengths = Tensor::from<int32_t>({0, 3}, {2});
  const Tensor q = random_tensor({2, 2, 3, 4}, 2);
  const Tensor context = scaled_dot_product_attention(q, q, q, AttentionMask::lengths(lengths), 0.5);
  for (const double value : context.narrowed(0, 0, 1).to_vector()) EXPECT_EQ(value, 0);
  EXPECT_EQ(count_fully_masked_rows(AttentionMask::lengths(lengths).keep({2, 2, 3, 3, 0})), 1);
  backward(sum(attention(x, AttentionMask::lengths(lengths))));
  for (const double value : x.grad().to_vector()) EXPECT_TRUE(std::isfinite(value));
  for (const double value : x.grad().narrowed(0, 0, 1).to_vector()) EXPECT_EQ(value, 0);
}

TEST(Attention, ScaleCanBeSwitchedOff) {
  EXPECT_DOUBLE_EQ(AttentionScale::inverse_sqrt().factor(16), 0.25);
  EXPECT_DOUBLE_EQ(AttentionScale::none().factor(16), 1);
  EXPECT_DOUBLE_EQ(AttentionScale::fixed(0.3).factor(16), 0.3);
}

TEST(Mask, KeepAgreesWithTheDefinition) {
  const Tensor lengths = Tensor::from<int32_t>({2, 5}, {2});
  const auto own = AttentionMask::where([](Dim b, Dim h, Dim q, Dim k) { return (b + h + q + k) % 3 != 0; });
  const AttentionMask masks[] = {AttentionMask::causal(), AttentionMask::lengths(lengths), own,
                                 AttentionMask::causal() & AttentionMask::lengths(lengths), own & AttentionMask::causal(),
                                 own & AttentionMask::lengths(lengths) & AttentionMask::causal()};
  for (const AttentionMask& mask : masks) {
    const ScoreExtent extent{2, 3, 4, 6, 2};  // queries at positions 2…5, keys at 0…5
    const Tensor keep = mask.keep(extent).expanded({2, 3, 4, 6});
    for (Dim b = 0; b < 2; ++b)
      for (Dim h = 0; h < 3; ++h)
        for (Dim q = 0; q < 4; ++q)
          for (Dim k = 0; k < 6; ++k) ASSERT_EQ(keep.at({b, h, q, k}) != 0, mask.may_attend(b, h, 2 + q, k));
  }
  EXPECT_FALSE(AttentionMask::none().keep({2, 3, 4, 6, 0}).defined());
  EXPECT_THROW(AttentionMask::lengths(lengths).keep({3, 1, 1, 1, 0}), ShapeError);
}

TEST(Mask, CausalFollowsAbsolutePositions) {
  const AttentionMask causal = AttentionMask::causal();
  EXPECT_TRUE(causal.may_attend(0, 0, 5, 5));
  EXPECT_FALSE(causal.may_attend(0, 0, 5, 6));
  const Tensor keep = causal.keep({1, 1, 1, 9, 5});  // one query with a cache
  EXPECT_EQ(keep.to_vector(), (std::vector<double>{1, 1, 1, 1, 1, 1, 0, 0, 0}));
}

TEST(Positions, ValuesAndOddWidth) {
  const Tensor pe = sinusoidal_encoding(3, 2, 5);
  EXPECT_NEAR(pe.at({0, 0}), std::sin(3.0), 1e-6);
  EXPECT_NEAR(pe.at({0, 1}), std::cos(3.0), 1e-6);
  EXPECT_NEAR(pe.at({1, 2}), std::sin(4.0 / std::pow(10000.0, 2.0 / 5)), 1e-6);
  EXPECT_NEAR(pe.at({1, 4}), std::sin(4.0 / std::pow(10000.0, 4.0 / 5)), 1e-6);
}

// Each pair of columns turns by k·frequency, whatever the position: PE(pos + k) is one linear map of PE(pos).
TEST(Positions, ShiftIsALinearMap) {
  constexpr Dim d = 16, shift = 7;
  const Tensor pe = sinusoidal_encoding(0, 100, d);
  for (Dim position : {0, 1, 50, 90}) {
    for (Dim pair = 0; pair < d / 2; ++pair) {
      const double turn = shift / std::pow(10000.0, 2.0 * static_cast<double>(pair) / d);
      const double sine = pe.at({position, 2 * pair}), cosine = pe.at({position, 2 * pair + 1});
      EXPECT_NEAR(pe.at({position + shift, 2 * pair}), std::cos(turn) * sine + std::sin(turn) * cosine, 1e-5);
      EXPECT_NEAR(pe.at({position + shift, 2 * pair + 1}), -std::sin(turn) * sine + std::cos(turn) * cosine, 1e-5);
    }
  }
}

TEST(Positions, BeyondTheReadyTableAndTheLimit) {
  const SinusoidalPositions sinusoidal(nullptr, "", 4);
  const Tensor zeros = Tensor::zeros({1, 3, 4});
  EXPECT_NEAR(sinusoidal.embed(zeros, 600).at({0, 2, 0}), std::sin(602.0), 1e-5);
  const LearnedPositions learned(nullptr, "", 10, 4);
  try {
    learned.embed(zeros, 8);
    FAIL();
  } catch (const ValueError& error) {
    EXPECT_NE(std::string(error.what()).find("11 tokens"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("10"), std::string::npos);
  }
}

StackOptions small_stack(NormScheme norm) {
  StackOptions options{12, 3, 20, 2, norm, norm == NormScheme::pre};
  options.dropout = DropoutRates::all(0.3);
  return options;
}

// By the formulas, spelled out with the layer's own parts.
TEST(Residual, PreAndPostAreWhatTheySay) {
  const Tensor x = random_tensor({2, 3, 12}, 1);
  for (const NormScheme scheme : {NormScheme::pre, NormScheme::post}) {
    const Residual residual(nullptr, "", 12, scheme, 0.0);
    auto f = [](const Tensor& y) { return mul(y, 2.0); };
    const Tensor want = scheme == NormScheme::pre ? add(x, f(residual.norm(x))) : residual.norm(add(x, f(x)));
    const Tensor other = scheme == NormScheme::post ? add(x, f(residual.norm(x))) : residual.norm(add(x, f(x)));
    EXPECT_TRUE(same_bits(residual(x, f), want));
    EXPECT_FALSE(same_bits(residual(x, f), other));
  }
}

TEST(Encoder, PaddingAndNeighboursChangeNothing) {
  const Encoder encoder(nullptr, "", small_stack(NormScheme::pre));
  const Tensor x = random_tensor({2, 5, 12}, 1);
  const Tensor lengths = Tensor::from<int32_t>({3, 5}, {2});
  const Tensor y = encoder(x, AttentionMask::lengths(lengths));
  Tensor changed = x.clone();
  changed.narrowed(0, 0, 1).narrowed(1, 3, 5).fill(100);
  const Tensor z = encoder(changed, AttentionMask::lengths(lengths));
  EXPECT_TRUE(same_bits(y.narrowed(0, 0, 1).narrowed(1, 0, 3), z.narrowed(0, 0, 1).narrowed(1, 0, 3)));
  const Tensor alone = encoder(x.narrowed(0, 0, 1).narrowed(1, 0, 3).contiguous(), AttentionMask::none());
  EXPECT_LT(relative_difference(alone, y.narrowed(0, 0, 1).narrowed(1, 0, 3)), rounding);
}

TEST(Decoder, LaterTokensNeverChangeEarlierBits) {
  for (const NormScheme norm : {NormScheme::pre, NormScheme::post}) {
    const Decoder decoder(nullptr, "", small_stack(norm));
    const Tensor x = random_tensor({1, 6, 12}, 1), memory = random_tensor({1, 4, 12}, 2);
    const Tensor y = decoder(x, memory, AttentionMask::none(), AttentionMask::none());
    for (Dim t = 1; t < 6; ++t) {
      Tensor changed = x.clone();
      changed.narrowed(1, t, t + 1).fill(3);
      const Tensor z = decoder(changed, memory, AttentionMask::none(), AttentionMask::none());
      EXPECT_TRUE(same_bits(y.narrowed(1, 0, t), z.narrowed(1, 0, t)));
      EXPECT_FALSE(same_bits(y.narrowed(1, t, 6), z.narrowed(1, t, 6)));
    }
  }
}

TEST(Decoder, CachedEqualsUncachedInStepsAndInChunks) {
  const Decoder decoder(nullptr, "", small_stack(NormScheme::pre));
  const Tensor x = random_tensor({2, 6, 12}, 1), memory = random_tensor({2, 4, 12}, 2);
  const Tensor whole = decoder(x, memory, AttentionMask::none(), AttentionMask::none());
  for (const std::vector<Dim>& ends : {std::vector<Dim>{1, 2, 3, 4, 5, 6}, std::vector<Dim>{2, 5, 6}}) {
    DecoderCache cache;
    Tensors parts;
    Dim begin = 0;
    for (const Dim end : ends) {
      parts.push_back(decoder(x.narrowed(1, begin, end), memory, AttentionMask::none(), AttentionMask::none(), nullptr, &cache));
      begin = end;
    }
    EXPECT_LT(relative_difference(concat(parts, 1), whole), rounding);
    EXPECT_EQ(cache.length(), 6);
  }
}

TEST(Init, BoundsDeviationsAndNoTwins) {
  const Encoder encoder(nullptr, "", {64, 4, 128, 3});
  const auto parameters = encoder.named_parameters();
  for (const NamedParameter& p : parameters) {
    if (p.initial != Initial::matrix) continue;
    const double bound = std::sqrt(6.0 / static_cast<double>(p.tensor.size(0) + p.tensor.size(1)));
    double square = 0;
    for (const double value : p.tensor.to_vector()) {
      EXPECT_LE(std::abs(value), bound * 1.0001);
      square += value * value;
    }
    EXPECT_NEAR(square / static_cast<double>(p.tensor.numel()), bound * bound / 3, 0.05 * bound * bound) << p.name;
    for (const NamedParameter& q : parameters) {
      if (q.name != p.name && q.initial == Initial::matrix && q.tensor.shape() == p.tensor.shape()) {
        EXPECT_FALSE(same_bits(p.tensor, q.tensor)) << p.name << " and " << q.name;
      }
    }
  }
}

TEST(Dropout, ActsInTrainingModeOnlyAndAtEachPlace) {
  EncoderLayer layer(nullptr, "", small_stack(NormScheme::pre));
  const Tensor x = random_tensor({2, 5, 12}, 1);
  const Tensor quiet = layer(x, AttentionMask::none());
  EXPECT_TRUE(same_bits(layer(x, AttentionMask::none()), quiet));
  layer.train();
  EXPECT_THROW(layer(x, AttentionMask::none()), Error);  // nothing to draw from
  const RandomScope random({1, 1, 0});
  const Tensor all = layer(x, AttentionMask::none());
  EXPECT_FALSE(same_bits(all, quiet));
  for (double* rate : {&layer.self_attn.dropout.rate, &layer.feed_forward.dropout.rate, &layer.self_attn_residual.dropout.rate,
                       &layer.feed_forward_residual.dropout.rate}) {
    const double before = *rate;
    *rate = 0;
    EXPECT_FALSE(same_bits(layer(x, AttentionMask::none()), all));
    *rate = before;
  }
}

TEST(ParameterStore, OneFlatBuffer) {
  Encoder encoder(nullptr, "", {8, 2, 16, 1});
  const Tensor x = random_tensor({1, 3, 8}, 1);
  const Tensor before = encoder(x, AttentionMask::none());
  ParameterStore store(encoder);
  EXPECT_TRUE(same_bits(encoder(x, AttentionMask::none()), before));
  backward(sum(encoder(x, AttentionMask::none())));
  double norm = 0;
  for (const double g : store.grads().to_vector()) norm += g * g;
  EXPECT_GT(norm, 0);
  Tensor values = store.values();
  values.fill(0);
  EXPECT_EQ(encoder.layers[0].self_attn.query.weight.at({0, 0}), 0);
  std::set<std::string> names;
  for (const auto& entry : store.entries()) EXPECT_TRUE(names.insert(entry.names[0]).second);
  EXPECT_TRUE(names.count("layers.0.self_attn.query.weight"));
}

}  // namespace
}  // namespace glass
