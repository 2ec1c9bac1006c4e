#include "glassformer/nn/attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "autograd/testing.h"

namespace glass {
namespace {

Tensor numbers(const Shape& shape, uint64_t seed) { return test::uniform(shape, seed, DType::f32); }

// Sums of some tens of float32 terms of size 1.
constexpr double rounding = 1e-6;

void expect_near(const Tensor& got, const Tensor& want, double tolerance = rounding) {
  ASSERT_EQ(got.shape().text(), want.shape().text());
  const std::vector<double> a = got.to_vector(), b = want.to_vector();
  for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], tolerance) << "element " << i;
}

double dot(const Tensor& a, const Tensor& b, Dim i, Dim h, Dim q, Dim k) {
  double out = 0;
  for (Dim c = 0; c < a.size(3); ++c) out += a.at({i, h, q, c}) * b.at({i, h, k, c});
  return out;
}

// Equation 1 of the paper, one query at a time in double: pairs by may_attend, nothing else shared with the library.
std::vector<double> attend_one(const Tensor& query, const Tensor& key, const Tensor& value, const AttentionMask& mask,
                               double scale, Dim first_query, Dim b, Dim h, Dim q) {
  std::vector<double> context(static_cast<size_t>(value.size(3)), 0);
  double total = 0;
  for (Dim k = 0; k < key.size(2); ++k) {
    if (!mask.may_attend(b, h, first_query + q, k)) continue;
    const double weight = std::exp(scale * dot(query, key, b, h, q, k));
    total += weight;
    for (size_t c = 0; c < context.size(); ++c) context[c] += weight * value.at({b, h, k, static_cast<Dim>(c)});
  }
  for (double& c : context) c = total == 0 ? 0 : c / total;
  return context;
}

// Every mask, with fewer queries than keys and more, from the start and from position 2 on.
TEST(Attention, EqualsItsDefinitionUnderAnyMask) {
  const Tensor lengths = Tensor::from<int32_t>({3, 0}, {2});
  const AttentionMask own =
      AttentionMask::where([](Dim b, Dim h, Dim q, Dim k) { return (b + 2 * h + q + k) % 3 != 0; });
  const AttentionMask masks[] = {AttentionMask::none(), AttentionMask::causal(), AttentionMask::lengths(lengths),
                                 AttentionMask::causal() & AttentionMask::lengths(lengths),
                                 own & AttentionMask::causal()};
  for (const auto& [queries, keys, first] : {std::tuple<Dim, Dim, Dim>{3, 5, 0}, {3, 5, 2}, {6, 4, 0}, {1, 1, 0}}) {
    const Tensor q = numbers({2, 2, queries, 3}, 1), k = numbers({2, 2, keys, 3}, 2), v = numbers({2, 2, keys, 4}, 3);
    for (const AttentionMask& mask : masks) {
      const Tensor got = scaled_dot_product_attention(q, k, v, mask, 0.7, first);
      ASSERT_EQ(got.shape().text(), Shape({2, 2, queries, 4}).text());
      for (Dim b = 0; b < 2; ++b)
        for (Dim h = 0; h < 2; ++h)
          for (Dim t = 0; t < queries; ++t) {
            const std::vector<double> want = attend_one(q, k, v, mask, 0.7, first, b, h, t);
            for (Dim c = 0; c < 4; ++c) ASSERT_NEAR(got.at({b, h, t, c}), want[static_cast<size_t>(c)], rounding);
          }
    }
  }
}

// Queries 2 and 3 alone, told where they stand, see what they see among all five.
TEST(Attention, AChunkOfQueriesIsAlignedByFirstQuery) {
  const Tensor q = numbers({1, 2, 5, 4}, 1), k = numbers({1, 2, 5, 4}, 2), v = numbers({1, 2, 5, 4}, 3);
  const Tensor whole = scaled_dot_product_attention(q, k, v, AttentionMask::causal(), 0.5);
  const Tensor middle = q.narrowed(2, 2, 4);
  expect_near(scaled_dot_product_attention(middle, k, v, AttentionMask::causal(), 0.5, 2), whole.narrowed(2, 2, 4));
  const Tensor misplaced = scaled_dot_product_attention(middle, k, v, AttentionMask::causal(), 0.5, 0);
  EXPECT_NE(misplaced.to_vector(), whole.narrowed(2, 2, 4).to_vector());
}

TEST(Attention, AFullyMaskedRowGivesZerosAndTakesNoGradient) {
  const Tensor q = test::leaf(numbers({2, 2, 3, 4}, 1)), k = test::leaf(numbers({2, 2, 5, 4}, 2)),
               v = test::leaf(numbers({2, 2, 5, 4}, 3));
  const AttentionMask mask = AttentionMask::lengths(Tensor::from<int64_t>({0, 4}, {2}));
  const Tensor context = scaled_dot_product_attention(q, k, v, mask, 0.5);
  for (const double value : context.narrowed(0, 0, 1).to_vector()) EXPECT_EQ(value, 0);
  backward(sum(context * numbers({2, 2, 3, 4}, 4)));
  for (const Tensor& leaf : {q, k, v}) {
    for (const double value : leaf.grad().narrowed(0, 0, 1).to_vector()) EXPECT_EQ(value, 0);
    for (const double value : leaf.grad().narrowed(0, 1, 2).to_vector()) EXPECT_TRUE(std::isfinite(value));
  }
  // A masked key of a row that has others takes none either; those it may attend to do.
  for (const double value : v.grad().narrowed(0, 1, 2).narrowed(2, 4, 5).to_vector()) EXPECT_EQ(value, 0);
  for (const double value : v.grad().narrowed(0, 1, 2).narrowed(2, 0, 4).to_vector()) EXPECT_NE(value, 0);
}

// The same of the whole layer, whose projections have biases.
TEST(Attention, AFullyMaskedExampleTakesNoGradientThroughALayer) {
  const MultiHeadAttention attention(nullptr, "", {8, 2, 0.0, {}});
  const Tensor x = test::leaf(numbers({2, 3, 8}, 1));
  backward(sum(attention(x, AttentionMask::lengths(Tensor::from<int32_t>({0, 3}, {2})))));
  for (const double value : x.grad().narrowed(0, 0, 1).to_vector()) EXPECT_EQ(value, 0);
  for (const double value : x.grad().narrowed(0, 1, 2).to_vector()) EXPECT_TRUE(std::isfinite(value));
}

TEST(Attention, ABatchOfOneIsARowOfABatch) {
  const MultiHeadAttention attention(nullptr, "", {12, 3, 0.0, {}});
  const Tensor x = numbers({3, 4, 12}, 1), memory = numbers({3, 6, 12}, 2);
  const Tensor self = attention(x, AttentionMask::causal()), cross = attention(x, memory, AttentionMask::none());
  for (Dim b = 0; b < 3; ++b) {
    const Tensor alone = x.narrowed(0, b, b + 1), its_memory = memory.narrowed(0, b, b + 1);
    expect_near(attention(alone, AttentionMask::causal()), self.narrowed(0, b, b + 1));
    expect_near(attention(alone, its_memory, AttentionMask::none()), cross.narrowed(0, b, b + 1));
  }
}

// Heads attend alone: what a mask does to one changes its columns of the context and no others.
TEST(Attention, AMaskOfOneHeadLeavesTheOthers) {
  const Tensor q = numbers({1, 3, 4, 2}, 1), k = numbers({1, 3, 4, 2}, 2), v = numbers({1, 3, 4, 2}, 3);
  const AttentionMask mask = AttentionMask::where([](Dim, Dim h, Dim q_, Dim k_) { return h != 1 || k_ == q_; });
  const Tensor all = scaled_dot_product_attention(q, k, v, {}, 0.5),
               got = scaled_dot_product_attention(q, k, v, mask, 0.5);
  for (const Dim head : {0, 2})
    test::expect_same_bits(got.narrowed(1, head, head + 1), all.narrowed(1, head, head + 1));
  expect_near(got.narrowed(1, 1, 2), v.narrowed(1, 1, 2));  // each query of head 1 sees only its own value
}

TEST(Attention, TheScaleActsOnScoresAlone) {
  const Tensor q = numbers({1, 2, 4, 9}, 1), k = numbers({1, 2, 5, 9}, 2), v = numbers({1, 2, 5, 3}, 3);
  const Tensor scaled = scaled_dot_product_attention(q, k, v, {}, AttentionScale::inverse_sqrt().factor(9));
  const Tensor by_hand = scaled_dot_product_attention(mul(q, 1.0 / 3), k, v, {}, 1.0);
  expect_near(scaled, by_hand);
  EXPECT_NE(scaled.to_vector(), scaled_dot_product_attention(q, k, v, {}, 1.0).to_vector());
}

TEST(Attention, TheScaleCanBeSwitchedOffOrChosen) {
  EXPECT_DOUBLE_EQ(AttentionScale::inverse_sqrt().factor(16), 0.25);
  EXPECT_DOUBLE_EQ(AttentionScale::none().factor(16), 1);
  EXPECT_DOUBLE_EQ(AttentionScale::fixed(0.3).factor(16), 0.3);
}

TEST(Attention, SplittingHeadsIsMoreThanAReshape) {
  const Tensor x = Tensor::arange(2 * 3 * 4, DType::f32).reshaped({2, 3, 4});
  const Tensor heads = split_heads(x, 2);              // [2,2,3,2]
  EXPECT_EQ(heads.at({0, 1, 2, 0}), x.at({0, 2, 2}));  // head 1 of position 2 begins at column 2
  test::expect_same_bits(merge_heads(heads), x);
  EXPECT_NE(heads.to_vector(), x.to_vector());
}

TEST(Attention, EachKeyHasAValue) {
  const Tensor q = numbers({2, 2, 3, 4}, 1), k = numbers({2, 2, 7, 4}, 2), v = numbers({2, 2, 6, 5}, 3);
  EXPECT_THROW(scaled_dot_product_attention(q, k, v, {}, 0.5), ShapeError);
}

TEST(Attention, AnIndivisibleWidthIsAnErrorThatNamesBothNumbers) {
  test::expect_error<ShapeError>([] { MultiHeadAttention(nullptr, "", {50, 7, 0.0, {}}); }, {"50", "7", "divisible"});
  test::expect_error<ShapeError>([] { MultiHeadAttention(nullptr, "", {50, 0, 0.0, {}}); }, {"50", "0"});
}

// A scheme of the user's own: turns queries and keys, and adds to the scores.
struct OwnPositions : PositionScheme {
  OwnPositions(double factor, double distance_cost)
      : PositionScheme(nullptr, ""), factor_(factor), distance_cost_(distance_cost) {}
  QueryKey rotate(const QueryKey& x, Dim) const override { return {mul(x.query, factor_), mul(x.key, 1 / factor_)}; }
  Tensor score_bias(const ScoreExtent& extent) const override {
    if (distance_cost_ == 0) return {};
    Tensor bias = Tensor::empty({extent.queries, extent.keys});
    for (Dim q = 0; q < extent.queries; ++q)
      for (Dim k = 0; k < extent.keys; ++k) {
        const auto distance = static_cast<double>(std::abs(extent.first_query + q - k));
        bias.data<float>()[q * extent.keys + k] = static_cast<float>(-distance_cost_ * distance);
      }
    return bias;
  }

 private:
  double factor_, distance_cost_;
};

TEST(Attention, AnOwnPositionSchemeReachesScores) {
  const MultiHeadAttention attention(nullptr, "", {8, 2, 0.0, {}});
  const Tensor x = numbers({2, 5, 8}, 1);
  const Tensor plain = attention(x, AttentionMask::none());
  const OwnPositions cancels(4, 0), near_sighted(1, 1), blind(1, 1000);
  test::expect_same_bits(attention(x, AttentionMask::none(), AttentionContext{&cancels, nullptr}),
                         plain);  // times 4 and divided by 4: exact in binary
  EXPECT_NE(attention(x, AttentionMask::none(), AttentionContext{&near_sighted, nullptr}).to_vector(),
            plain.to_vector());
  // So strong a cost leaves each query its own value, as a mask of the diagonal does.
  const AttentionMask diagonal = AttentionMask::where([](Dim, Dim, Dim q, Dim k) { return q == k; });
  expect_near(attention(x, AttentionMask::none(), AttentionContext{&blind, nullptr}), attention(x, diagonal));
}

TEST(Attention, AnOwnPositionSchemeAgreesWithACache) {
  const MultiHeadAttention attention(nullptr, "", {8, 2, 0.0, {}});
  const OwnPositions near_sighted(1, 0.5);
  const Tensor x = numbers({2, 5, 8}, 1);
  const Tensor whole = attention(x, AttentionMask::causal(), AttentionContext{&near_sighted, nullptr});
  AttentionCache cache;
  for (Dim t = 0; t < 5; ++t) {
    const Tensor step =
        attention(x.narrowed(1, t, t + 1), AttentionMask::causal(), AttentionContext{&near_sighted, &cache});
    expect_near(step, whole.narrowed(1, t, t + 1));
  }
  EXPECT_EQ(cache.length(), 5);
}

}  // namespace
}  // namespace glass
