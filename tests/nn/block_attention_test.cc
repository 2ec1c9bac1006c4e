// Attention by blocks against its definition: values, gradients, masks, dropout, and what a listener is shown.
#include <gtest/gtest.h>

#include <cmath>

#include "glassformer/autograd/precision.h"
#include "glassformer/autograd/tap.h"
#include "glassformer/base/isa.h"
#include "glassformer/base/random.h"
#include "glassformer/nn/attention.h"
#include "tensors.h"

namespace glass {
namespace {

using test::random_tensor;
using test::relative_distance;

struct Sizes {
  Dim B, H, T, S, K, Kv;
};

struct Operands {
  Tensor query, key, value, upstream;

  explicit Operands(const Sizes& s)
      : query(random_tensor({s.B, s.H, s.T, s.K}, 1)),
        key(random_tensor({s.B, s.H, s.S, s.K}, 2)),
        value(random_tensor({s.B, s.H, s.S, s.Kv}, 3)),
        upstream(random_tensor({s.B, s.H, s.T, s.Kv}, 4)) {}
};

using Attention = decltype(&scaled_dot_product_attention);

// The output and the gradients of query, key and value.
Tensors results_of(Attention attention, const Operands& in, const AttentionMask& mask, Dim first_query,
                   const Dropout* dropout, Precision precision = Precision::f32, double scale = 0.3) {
  const PrecisionScope multiply_in(precision);
  Tensors inputs{in.query.clone(), in.key.clone(), in.value.clone()};
  for (Tensor& input : inputs) input.set_requires_grad(true);
  const RandomScope random({5, 6, 7});
  const Tensor out = attention(inputs[0], inputs[1], inputs[2], mask, scale, first_query, {}, dropout);
  backward(out, in.upstream);
  return {out.detach(), inputs[0].grad(), inputs[1].grad(), inputs[2].grad()};
}

void expect_close(const Tensors& got, const Tensors& want, double tolerance) {
  const char* names[] = {"output", "query's gradient", "key's gradient", "value's gradient"};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(got[i].shape(), want[i].shape()) << names[i];
    // Beside the size of the operands where it is small: with one key the gradients of all scores are zero.
    const double floor = 0.2 * std::sqrt(static_cast<double>(want[i].numel()));
    EXPECT_LT(relative_distance(got[i], want[i], floor), tolerance) << names[i];
  }
}

// In bf16 too, which is 8 bits for each operand of five products; where there is none, that is float32 again. With a
// power of two for a scale operands are rounded before they get to the kernel.
void expect_as_defined(const Sizes& sizes, const AttentionMask& mask, Dim first_query = 0,
                       const Dropout* dropout = nullptr) {
  SCOPED_TRACE("T " + std::to_string(sizes.T) + ", S " + std::to_string(sizes.S) + ", K " + std::to_string(sizes.K));
  const Operands in(sizes);
  const auto results = [&](Attention attention, Precision precision, double scale) {
    return results_of(attention, in, mask, first_query, dropout, precision, scale);
  };
  for (const double scale : {0.3, 0.25}) {
    const Tensors want = results(&plain::scaled_dot_product_attention, Precision::f32, scale);
    expect_close(results(&scaled_dot_product_attention, Precision::f32, scale), want, 2e-6);
    expect_close(results(&scaled_dot_product_attention, Precision::bf16, scale), want, 1e-2);
  }
}

// Around the sizes of a vector, a tile, a panel and a block of queries (48) and keys (128).
TEST(BlockAttention, EqualsItsDefinitionForEverySize) {
  for (const Dim T : {1, 2, 7, 47, 48, 49, 101}) {
    for (const Dim S : {1, 3, 16, 65, 127, 129, 260}) expect_as_defined({2, 3, T, S, 8, 5}, AttentionMask::none());
  }
  for (const Dim K : {1, 3, 15, 16, 17, 33, 64, 65, 100, 128, 200, 256}) {
    expect_as_defined({1, 2, 50, 131, K, K}, AttentionMask::none());
    expect_as_defined({1, 2, 50, 131, K, 256 - K + 1}, AttentionMask::causal(), 81);
  }
}

TEST(BlockAttention, EqualsItsDefinitionUnderEveryMask) {
  const Tensor lengths = Tensor::from<int32_t>({130, 0, 57}, {3});
  const AttentionMask padding = AttentionMask::lengths(lengths), causal = AttentionMask::causal();
  const AttentionMask near = AttentionMask::where([](Dim, Dim h, Dim q, Dim k) { return std::abs(q - k) <= 3 * h; });
  const AttentionMask far = AttentionMask::where([](Dim b, Dim, Dim q, Dim k) { return k >= 128 && q != b; });
  const Sizes square{3, 2, 130, 130, 16, 16};
  for (const AttentionMask& mask : {padding, causal, padding & causal, near, near & causal & padding, far}) {
    expect_as_defined(square, mask);
    expect_as_defined({3, 2, 60, 200, 16, 16}, mask, 140);  // with a cache of 140
    expect_as_defined({3, 2, 1, 130, 16, 16}, mask, 129);
  }
}

TEST(BlockAttention, DropsTheWeightsThatItsDefinitionDrops) {
  Dropout dropout(nullptr, "dropout", 0.4);
  dropout.train();
  expect_as_defined({2, 3, 50, 150, 16, 16}, AttentionMask::none(), 0, &dropout);
  expect_as_defined({2, 3, 150, 150, 16, 16}, AttentionMask::causal(), 0, &dropout);
  expect_as_defined({2, 3, 5, 6, 8, 8}, AttentionMask::lengths(Tensor::from<int32_t>({6, 2}, {2})), 0, &dropout);
}

TEST(BlockAttention, ASingleKeyHasGradientsOfExactlyZero) {
  for (const Precision precision : {Precision::f32, Precision::bf16}) {
    const Operands in({2, 2, 9, 1, 8, 8});
    const Tensors results = results_of(&scaled_dot_product_attention, in, {}, 0, nullptr, precision);
    for (const size_t i : {1, 2}) {
      for (const double value : results[i].to_vector()) ASSERT_EQ(value, 0);
    }
  }
}

// Operands that bf16 holds exactly lose nothing but their weights' digits: with one key allowed those are 1.
TEST(BlockAttention, InBf16AQueryWithOneKeyGetsThatKeysValue) {
  if (!has_bf16_products()) GTEST_SKIP() << "no bf16 products";
  Operands in({1, 2, 70, 70, 10, 7});
  in.value = in.value.to(DType::bf16).to(DType::f32);
  const AttentionMask own = AttentionMask::where([](Dim, Dim, Dim q, Dim k) { return q == k; });
  const PrecisionScope bf16(Precision::bf16);
  EXPECT_EQ(scaled_dot_product_attention(in.query, in.key, in.value, own, 0.3).to_vector(), in.value.to_vector());
}

TEST(BlockAttention, InBf16ItIsAsFarFromItsDefinitionAsEightBitsAre) {
  if (!has_bf16_products()) GTEST_SKIP() << "no bf16 products";
  const Operands in({2, 2, 100, 150, 16, 16});
  const Tensors exact = results_of(&plain::scaled_dot_product_attention, in, {}, 0, nullptr);
  const Tensors got = results_of(&scaled_dot_product_attention, in, {}, 0, nullptr, Precision::bf16);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_LT(relative_distance(got[i], exact[i]), 1.0 / 128);
    EXPECT_GT(relative_distance(got[i], exact[i]), 1.0 / 8192);  // and float32 it is not
  }
}

// Rounding before the kernel or within it: the same numbers, but that a scale beside a power of two rounds a key here
// and there the other way.
TEST(BlockAttention, WhereOperandsAreRoundedChangesNothing) {
  // Elsewhere attention rounds nothing, and there is no second way to compare with.
  if (!has_bf16_products()) GTEST_SKIP() << "this processor multiplies no bf16 numbers";
  for (const Sizes& sizes : {Sizes{2, 2, 100, 150, 16, 16}, Sizes{1, 3, 37, 50, 9, 7}}) {
    const Operands in(sizes);
    const auto results = [&](double scale) {
      return results_of(&scaled_dot_product_attention, in, AttentionMask::causal(), 40, nullptr, Precision::bf16,
                        scale);
    };
    const Tensors before = results(0.25), within = results(0.25 * (1 + 0x1p-20));
    for (size_t i = 0; i < 4; ++i) EXPECT_LT(relative_distance(before[i], within[i]), 1.0 / 4096) << i;
    const PrecisionScope bf16(Precision::bf16);
    const Tensor without_gradient =
        scaled_dot_product_attention(in.query, in.key, in.value, AttentionMask::causal(), 0.25, 40);
    EXPECT_EQ(without_gradient.to_vector(), before[0].to_vector());
  }
}

TEST(BlockAttention, LargeScoresStayFinite) {
  Operands in({1, 1, 3, 300, 4, 4});
  in.query = in.query * 300.0;
  const Tensor out = scaled_dot_product_attention(in.query, in.key, in.value, {}, 1.0);
  for (const double value : out.to_vector()) EXPECT_TRUE(std::isfinite(value));
}

TEST(BlockAttention, ANanAmongTheKeysReachesThoseWhoSeeIt) {
  Operands in({1, 1, 4, 4, 4, 4});
  in.key.data<float>()[2 * 4] = std::nanf("");
  const Tensor out = scaled_dot_product_attention(in.query, in.key, in.value, AttentionMask::causal(), 0.5);
  EXPECT_TRUE(std::isfinite(out.at({0, 0, 1, 0})));
  EXPECT_TRUE(std::isnan(out.at({0, 0, 2, 0})));
}

// Later keys may make earlier blocks longer, and nothing else.
void expect_same_bits_before_later_tokens() {
  const Operands whole({2, 2, 150, 150, 16, 16});
  const Tensor all = scaled_dot_product_attention(whole.query, whole.key, whole.value, AttentionMask::causal(), 0.25);
  for (const Dim length : {1, 47, 48, 60, 128, 129}) {
    const auto front = [&](const Tensor& x) { return x.narrowed(2, 0, length); };
    const Tensor part = scaled_dot_product_attention(front(whole.query), front(whole.key), front(whole.value),
                                                     AttentionMask::causal(), 0.25);
    EXPECT_EQ(part.to_vector(), front(all).to_vector()) << length;
  }
}

TEST(BlockAttention, LaterTokensNeverChangeTheBitsOfEarlierOutputs) {
  expect_same_bits_before_later_tokens();
  const PrecisionScope bf16(Precision::bf16);
  expect_same_bits_before_later_tokens();
}

TEST(BlockAttention, LookingShowsTheStepsAndChangesNoBit) {
  const Operands in({2, 2, 20, 30, 8, 8});
  const AttentionMask mask = AttentionMask::lengths(Tensor::from<int32_t>({30, 11}, {2}));
  const Tensor unseen = scaled_dot_product_attention(in.query, in.key, in.value, mask, 0.5);
  std::vector<std::pair<std::string, Tensor>> seen, defined;
  Tensor watched;
  {
    const ListenToTaps listen([&](const std::string& path, const Tensor& x) { seen.emplace_back(path, x.clone()); });
    watched = scaled_dot_product_attention(in.query, in.key, in.value, mask, 0.5);
  }
  {
    const ListenToTaps listen([&](const std::string& path, const Tensor& x) { defined.emplace_back(path, x.clone()); });
    plain::scaled_dot_product_attention(in.query, in.key, in.value, mask, 0.5);
  }
  EXPECT_EQ(unseen.to_vector(), watched.to_vector());
  ASSERT_EQ(seen.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(seen[i].first, defined[i].first);
    EXPECT_LT(relative_distance(seen[i].second, defined[i].second), 2e-6) << seen[i].first;
  }
}

// 4,096 queries and keys: their scores alone would take 128 MB.
TEST(BlockAttention, MemoryGrowsWithTheLengthNotWithItsSquare) {
  Operands in({1, 2, 4096, 4096, 8, 8});
  for (Tensor* x : {&in.query, &in.key, &in.value}) x->set_requires_grad(true);
  reset_peak_memory();
  const size_t before = memory_use().current;
  backward(scaled_dot_product_attention(in.query, in.key, in.value, AttentionMask::causal(), 0.35), in.upstream);
  EXPECT_LT(memory_use().peak - before, size_t{16} << 20);
}

}  // namespace
}  // namespace glass
