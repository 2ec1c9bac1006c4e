// The cache of keys and values against the plainest one, which copies every row at every step.
#include "glassformer/nn/attention_cache.h"

#include <gtest/gtest.h>

#include "glassformer/autograd/ops.h"
#include "glassformer/base/error.h"
#include "glassformer/base/threads.h"
#include "glassformer/nn/attention.h"
#include "nn/block_attention.h"
#include "tensors.h"

namespace glass {
namespace {

using test::random_tensor;
using test::relative_distance;

// [R,H,S,K] by concatenation and selection of whole tensors.
struct PlainCache {
  Tensor key, value;

  void append(const Tensor& k, const Tensor& v) {
    key = key.defined() ? concat({key, k}, 2) : k;
    value = value.defined() ? concat({value, v}, 2) : v;
  }
  void select(const std::vector<int64_t>& rows) {
    const Tensor index = Tensor::from(rows, {static_cast<Dim>(rows.size())});
    key = index_select(key, 0, index);
    value = index_select(value, 0, index);
  }
};

void expect_equal(const AttentionCache& cache, const PlainCache& plain) {
  EXPECT_EQ(cache.key().shape(), plain.key.shape());
  EXPECT_EQ(cache.key().to_vector(), plain.key.to_vector());
  EXPECT_EQ(cache.value().to_vector(), plain.value.to_vector());
}

TEST(AttentionCache, HoldsWhatWasAppendedThroughAnySelection) {
  AttentionCache cache;
  PlainCache plain;
  uint64_t seed = 1;
  const auto append = [&](Dim rows, Dim steps) {
    const Tensor k = random_tensor({rows, 2, steps, 3}, ++seed), v = random_tensor({rows, 2, steps, 5}, ++seed);
    cache.append(k, v);
    plain.append(k, v);
  };
  const auto select = [&](const std::vector<int64_t>& rows) {
    cache.select(rows);
    plain.select(rows);
    expect_equal(cache, plain);
  };
  append(2, 1);
  select({0, 0, 1, 1, 1});  // more rows than there were places
  append(5, 1);
  expect_equal(cache, plain);
  select({4, 0, 0, 3, 2});  // one doubled, one dropped, others swapped
  append(5, 2);
  select({1, 2});
  append(2, 1);
  select({1, 0, 1});                                   // a place that a dropped row left is free again
  for (int step = 0; step < 40; ++step) append(3, 1);  // beyond every capacity on the way
  expect_equal(cache, plain);
  EXPECT_EQ(cache.length(), plain.key.size(2));
}

TEST(AttentionCache, ManyRowsAreCopiedByAnyNumberOfThreads) {
  const int before = threads();
  for (const int count : {1, 4}) {
    set_threads(count);
    AttentionCache cache;
    PlainCache plain;
    std::vector<int64_t> rows;
    for (int64_t row = 0; row < 40; ++row) rows.push_back(row * 7 % 20);  // every row twice, in another order
    for (int step = 0; step < 20; ++step) {
      const Dim batch = step == 0 ? 20 : 40;
      const Tensor k = random_tensor({batch, 2, 1, 3}, 2 * step + 1), v = random_tensor({batch, 2, 1, 3}, 2 * step + 2);
      cache.append(k, v);
      plain.append(k, v);
      cache.select(rows);
      plain.select(rows);
    }
    expect_equal(cache, plain);
  }
  set_threads(before);
}

TEST(AttentionCache, ADoubledRowGrowsByItself) {
  AttentionCache cache;
  cache.append(Tensor::full({1, 1, 1, 1}, 1), Tensor::full({1, 1, 1, 1}, 1));
  cache.select({0, 0});
  cache.append(Tensor::from<float>({2, 3}, {2, 1, 1, 1}), Tensor::from<float>({4, 5}, {2, 1, 1, 1}));
  EXPECT_EQ(cache.key().to_vector(), (std::vector<double>{1, 2, 1, 3}));
  EXPECT_EQ(cache.value().to_vector(), (std::vector<double>{1, 4, 1, 5}));
}

TEST(AttentionCache, RefusesWhatDoesNotFit) {
  AttentionCache cache;
  cache.append(random_tensor({2, 2, 1, 4}, 1), random_tensor({2, 2, 1, 4}, 2));
  EXPECT_THROW(cache.append(random_tensor({3, 2, 1, 4}, 1), random_tensor({3, 2, 1, 4}, 2)), ShapeError);
  EXPECT_THROW(cache.append(random_tensor({2, 2, 1, 5}, 1), random_tensor({2, 2, 1, 4}, 2)), ShapeError);
  EXPECT_THROW(cache.select({0, 2}), ValueError);
  EXPECT_EQ(cache.length(), 1);
}

// One query at a time, where keys lie, for widths around the vectors' and any number of keys.
TEST(AttentionCache, AttendingWhereKeysLieEqualsTheDefinition) {
  const NoGrad values_only;
  for (const Dim width : {1, 7, 8, 15, 16, 17, 33, 64, 100}) {
    for (const Dim keys : {1, 2, 15, 16, 17, 130}) {
      AttentionOptions options{2 * width, 2};
      MultiHeadAttention attention(nullptr, "", options);
      for (const NamedParameter& p : attention.named_parameters()) {
        Tensor(p.tensor).copy_from(random_tensor(p.tensor.shape(), width + 3));
      }
      attention.train(false);
      const Tensor memory = random_tensor({2, keys, 2 * width}, 4), x = random_tensor({3, 1, 2 * width}, 5);
      const std::vector<int64_t> rows{1, 0, 1};
      const AttentionMask mask = AttentionMask::lengths(Tensor::from<int32_t>({static_cast<int32_t>(keys), 1, 0}, {3}));
      AttentionCache cache;
      attention(random_tensor({2, 1, 2 * width}, 6), memory, AttentionMask::none(), AttentionContext{nullptr, &cache});
      cache.select(rows);
      const Tensor got = attention(x, memory, mask, AttentionContext{nullptr, &cache});
      const Tensor spread = index_select(memory, 0, Tensor::from(rows, {3}));
      const Tensor want = attention(x, spread, mask);
      // Sums of up to 200 products in another order; as for attention by blocks.
      EXPECT_LT(relative_distance(got, want, 1e-3), 5e-6) << width << " " << keys;
    }
  }
}

// Kept in bf16, keys and values are what they are once rounded, and all else is as exact as before.
TEST(AttentionCache, NumbersKeptInBf16AreTheRoundedOnes) {
  const NoGrad values_only;
  for (const Dim width : {1, 7, 16, 17, 64, 100}) {
    for (const Dim keys : {1, 5, 33}) {
      AttentionCache narrow, wide;
      for (const Dim more : {keys, Dim{1}}) {
        const Tensor k = random_tensor({2, 2, more, width}, 1).to(DType::bf16);
        const Tensor v = random_tensor({2, 2, more, width + 1}, 2).to(DType::bf16);
        narrow.append(k, v);
        wide.append(k.to(DType::f32), v.to(DType::f32));
      }
      narrow.select({1, 0, 1});
      wide.select({1, 0, 1});
      EXPECT_EQ(narrow.keys_in_place().dtype(), DType::bf16);
      EXPECT_EQ(narrow.key().to_vector(), wide.key().to_vector());
      EXPECT_EQ(narrow.value().to_vector(), wide.value().to_vector());
      for (const Dim queries : {1, 3}) {   // in place, and by blocks
        if (queries > keys + 1) continue;  // they stand at the last positions
        const Tensor q = random_tensor({3, 2, queries, width}, 3);
        const Tensor got = cached_attention(q, narrow, AttentionMask::causal(), 0.3, keys + 1 - queries);
        const Tensor want = cached_attention(q, wide, AttentionMask::causal(), 0.3, keys + 1 - queries);
        EXPECT_LT(relative_distance(got, want, 1e-3), 5e-6) << width << " " << keys << " " << queries;
      }
    }
  }
}

TEST(AttentionCache, IsInBf16WhereWeightsAreCompact) {
  const NoGrad values_only;
  MultiHeadAttention attention(nullptr, "", {32, 2});
  attention.train(false);
  compact_weights(attention);
  const Tensor x = random_tensor({2, 3, 32}, 1);
  AttentionCache self, cross;
  const Tensor stepwise = attention(x, AttentionMask::causal(), AttentionContext{nullptr, &self});
  attention(x, x, AttentionMask::none(), AttentionContext{nullptr, &cross});
  EXPECT_EQ(self.keys_in_place().dtype(), DType::bf16);
  EXPECT_EQ(cross.values_in_place().dtype(), DType::bf16);
  // Rounding to eight bits moves a key or value by 2^-9 to 2^-8 of itself; the output, a mean of values, by less.
  EXPECT_LT(relative_distance(stepwise, attention(x, AttentionMask::causal()), 1e-3), 8e-3);
}

}  // namespace
}  // namespace glass
