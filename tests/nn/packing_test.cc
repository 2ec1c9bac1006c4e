#include "glassformer/nn/packing.h"

#include <gtest/gtest.h>

#include "glassformer/base/error.h"
#include "glassformer/nn/attention.h"

namespace glass {
namespace {

TEST(Packing, TakesTheFrontOfEachRow) {
  const Tensor padded = Tensor::from<int32_t>({1, 2, 0, /**/ 0, 0, 0, /**/ 3, 4, 5}, {3, 3});
  const PackedTokens packed = pack(padded, Tensor::from<int64_t>({2, 0, 3}, {3}));
  EXPECT_EQ(packed.ids.shape(), (Shape{1, 5}));
  EXPECT_EQ(packed.ids.to_vector(), (std::vector<double>{1, 2, 3, 4, 5}));
  EXPECT_EQ(packed.packing.begins(), (std::vector<int64_t>{0, 2, 2}));
  EXPECT_EQ(packed.packing.positions().to_vector(), (std::vector<double>{0, 1, 0, 1, 2}));
}

TEST(Packing, RefusesLengthsThatDoNotFit) {
  const Tensor padded = Tensor::zeros({2, 3}, DType::i32);
  EXPECT_THROW(pack(padded, Tensor::from<int32_t>({2, 4}, {2})), ShapeError);
  EXPECT_THROW(pack(padded, Tensor::from<int32_t>({2, -1}, {2})), ShapeError);
  EXPECT_THROW(pack(padded, Tensor::from<int32_t>({2}, {1})), ShapeError);
  EXPECT_THROW(pack(padded, Tensor::zeros({2})), ShapeError);
}

TEST(PackedMask, AllowsEachSequenceItsOwnKeys) {
  const Packing queries({2, 0, 1}), keys({1, 2, 2});
  const AttentionMask across = AttentionMask::packed(queries, keys);
  const Tensor keep = across.keep({1, 4, 3, 5, 0});
  EXPECT_EQ(keep.to_vector(), (std::vector<double>{1, 0, 0, 0, 0, /**/ 1, 0, 0, 0, 0, /**/ 0, 0, 0, 1, 1}));
  for (const Dim q : {0, 1, 2}) {
    for (const Dim k : {0, 1, 2, 3, 4}) EXPECT_EQ(across.may_attend(0, 0, q, k), keep.at({0, 0, q, k}) != 0);
  }
}

TEST(PackedMask, CountsPositionsWithinEachSequence) {
  const Packing packing({2, 3});
  const AttentionMask mask = AttentionMask::packed(packing, packing) & AttentionMask::causal() &
                             AttentionMask::where([](Dim b, Dim, Dim q, Dim k) { return b == 0 || q - k < 2; });
  const std::vector<double> want{1,      0, 0, 0, 0, /**/ 1, 1, 0, 0, 0, /**/ 0, 0, 1, 0, 0, /**/ 0, 0, 1, 1, 0,
                                 /**/ 0, 0, 0, 1, 1};
  EXPECT_EQ(mask.keep({1, 1, 5, 5, 0}).to_vector(), want);
  const Tensor x = Tensor::from<float>({1, 2, 3, 4, 5}, {1, 1, 5, 1});
  const Tensor blocks = scaled_dot_product_attention(x, x, x, mask, 1.0);
  const Tensor defined = plain::scaled_dot_product_attention(x, x, x, mask, 1.0);
  for (const Dim row : {0, 1, 2, 3, 4}) EXPECT_NEAR(blocks.at({0, 0, row, 0}), defined.at({0, 0, row, 0}), 1e-6) << row;
}

TEST(PackedMask, RefusesOtherScoresPaddingAndOtherPackings) {
  const Packing packing({2, 3});
  const AttentionMask mask = AttentionMask::packed(packing, packing);
  EXPECT_THROW(mask.keep({1, 1, 5, 4, 0}), ShapeError);
  EXPECT_THROW(mask.keep({2, 1, 5, 5, 0}), ShapeError);
  EXPECT_THROW((mask & AttentionMask::lengths(Tensor::from<int32_t>({2, 3}, {2}))).keep({1, 1, 5, 5, 0}), ShapeError);
  EXPECT_THROW(mask & AttentionMask::packed(Packing({3, 2}), packing), ShapeError);
  EXPECT_THROW(AttentionMask::packed(packing, Packing({5})), ShapeError);
}

}  // namespace
}  // namespace glass
