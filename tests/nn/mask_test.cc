#include "glassformer/nn/mask.h"

#include <gtest/gtest.h>

#include "autograd/testing.h"

namespace glass {
namespace {

// One row of text for each query, 1 where it may attend.
std::vector<std::string> table(const AttentionMask& mask, const ScoreExtent& extent, Dim batch = 0, Dim head = 0) {
  const Tensor keep = mask.keep(extent).expanded({extent.batch, extent.heads, extent.queries, extent.keys});
  std::vector<std::string> rows;
  for (Dim q = 0; q < extent.queries; ++q) {
    rows.emplace_back();
    for (Dim k = 0; k < extent.keys; ++k) rows.back() += keep.at({batch, head, q, k}) != 0 ? '1' : '0';
  }
  return rows;
}

using Rows = std::vector<std::string>;
const Tensor three_and_one = Tensor::from<int64_t>({3, 1}, {2});

TEST(Mask, CausalTable) {
  EXPECT_EQ(table(AttentionMask::causal(), {1, 1, 4, 4, 0}), (Rows{"1000", "1100", "1110", "1111"}));
  EXPECT_EQ(table(AttentionMask::causal(), {1, 1, 2, 5, 0}), (Rows{"10000", "11000"}));
  EXPECT_EQ(table(AttentionMask::causal(), {1, 1, 2, 5, 3}), (Rows{"11110", "11111"}));
  EXPECT_EQ(table(AttentionMask::causal(), {1, 1, 4, 2, 0}), (Rows{"10", "11", "11", "11"}));
}

TEST(Mask, LengthsTable) {
  const AttentionMask mask = AttentionMask::lengths(three_and_one);
  EXPECT_EQ(table(mask, {2, 1, 2, 4, 0}, 0), (Rows{"1110", "1110"}));
  EXPECT_EQ(table(mask, {2, 1, 2, 4, 0}, 1), (Rows{"1000", "1000"}));
}

TEST(Mask, BothTable) {
  const AttentionMask mask = AttentionMask::causal() & AttentionMask::lengths(three_and_one);
  EXPECT_EQ(table(mask, {2, 1, 4, 4, 0}, 0), (Rows{"1000", "1100", "1110", "1110"}));
  EXPECT_EQ(table(mask, {2, 1, 4, 4, 0}, 1), (Rows{"1000", "1000", "1000", "1000"}));
}

TEST(Mask, OwnTableForEachHead) {
  const AttentionMask window = AttentionMask::where([](Dim, Dim h, Dim q, Dim k) { return k >= q - h && k <= q; });
  EXPECT_EQ(table(window, {1, 2, 3, 3, 0}, 0, 0), (Rows{"100", "010", "001"}));
  EXPECT_EQ(table(window, {1, 2, 3, 3, 0}, 0, 1), (Rows{"100", "110", "011"}));
}

// The tables show some masks; this compares every combination with the definition, pair by pair.
TEST(Mask, KeepAgreesWithMayAttend) {
  const AttentionMask causal = AttentionMask::causal(),
                      lengths = AttentionMask::lengths(Tensor::from<int32_t>({2, 5}, {2})),
                      own = AttentionMask::where([](Dim b, Dim h, Dim q, Dim k) { return (b + h + q + k) % 3 != 0; });
  for (const AttentionMask& mask :
       {causal, lengths, own, causal & lengths, own & causal, own & lengths, own & lengths & causal}) {
    const Tensor keep = mask.keep({2, 3, 4, 6, 2}).expanded({2, 3, 4, 6});  // queries at positions 2…5, keys at 0…5
    for (Dim b = 0; b < 2; ++b)
      for (Dim h = 0; h < 3; ++h)
        for (Dim q = 0; q < 4; ++q)
          for (Dim k = 0; k < 6; ++k) ASSERT_EQ(keep.at({b, h, q, k}) != 0, mask.may_attend(b, h, 2 + q, k));
  }
}

// A function may only take away: what another part of the mask forbids stays forbidden, whatever it would allow.
TEST(Mask, AndAllowsWhatBothAllow) {
  const AttentionMask all = AttentionMask::where([](Dim, Dim, Dim, Dim) { return true; });
  EXPECT_EQ(table(all & AttentionMask::causal(), {1, 1, 2, 2, 0}), (Rows{"10", "11"}));
  EXPECT_EQ(table(AttentionMask::causal() & all, {1, 1, 2, 2, 0}), (Rows{"10", "11"}));
  const AttentionMask shorter = AttentionMask::lengths(Tensor::from<int64_t>({2, 4}, {2}));
  const AttentionMask both = shorter & AttentionMask::lengths(three_and_one);
  EXPECT_EQ(table(both, {2, 1, 1, 4, 0}, 0), (Rows{"1100"}));
  EXPECT_EQ(table(both, {2, 1, 1, 4, 0}, 1), (Rows{"1000"}));
}

TEST(Mask, IsAValue) {
  const AttentionMask causal = AttentionMask::causal();
  AttentionMask copy = causal;
  copy = copy & AttentionMask::lengths(three_and_one);
  EXPECT_EQ(table(causal, {2, 1, 1, 2, 1}), (Rows{"11"}));
  EXPECT_TRUE(AttentionMask::none().is_none());
  EXPECT_FALSE(AttentionMask::none().keep({2, 3, 4, 6, 0}).defined());
  EXPECT_FALSE(causal.is_none());
  EXPECT_TRUE((AttentionMask::none() & AttentionMask::none()).is_none());
  EXPECT_TRUE(copy.is_causal());
}

TEST(Mask, LengthsBeyondTheKeysMeanAll) {
  const AttentionMask mask = AttentionMask::lengths(Tensor::from<int32_t>({9, 2}, {2}));
  EXPECT_EQ(table(mask, {2, 1, 1, 3, 0}, 0), (Rows{"111"}));
}

TEST(Mask, RefusesWhatAreNoLengths) {
  EXPECT_THROW(AttentionMask::lengths(Tensor::full({2}, 1.0)), ShapeError);
  EXPECT_THROW(AttentionMask::lengths(Tensor::zeros({2, 1}, DType::i64)), ShapeError);
  test::expect_error<ShapeError>([] { AttentionMask::lengths(three_and_one).keep({3, 1, 2, 2, 0}); }, {"2", "3"});
}

TEST(Mask, CountsFullyMaskedRows) {
  const AttentionMask mask = AttentionMask::where([](Dim b, Dim, Dim q, Dim) { return b == 1 || q != 2; });
  EXPECT_EQ(count_fully_masked_rows(mask.keep({2, 3, 4, 5, 0})), 3);  // query 2 of example 0, in each of three heads
  const AttentionMask empty = AttentionMask::lengths(Tensor::from<int32_t>({0, 3}, {2}));
  EXPECT_EQ(count_fully_masked_rows(empty.keep({2, 3, 4, 3, 0})), 1);  // one row for all heads and queries
  EXPECT_EQ(count_fully_masked_rows(AttentionMask::none().keep({2, 3, 4, 5, 0})), 0);
}

}  // namespace
}  // namespace glass
