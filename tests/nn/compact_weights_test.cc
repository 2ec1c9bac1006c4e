// Weights in fewer bytes: near the exact ones, the same in every batch, and never in the way of training.
#include <gtest/gtest.h>

#include <cmath>

#include "glassformer/base/error.h"
#include "glassformer/base/random.h"
#include "glassformer/nn/feed_forward.h"
#include "tensors.h"

namespace glass {
namespace {

using test::random_tensor;
using test::relative_distance;

TEST(CompactWeight, IsWithinHalfAStepOfTheWeight) {
  const Tensor weight = random_tensor({5, 33}, 1);
  const Tensor wide = CompactWeight(weight).widened();
  for (Dim i = 0; i < 5; ++i) {
    double largest = 0;
    for (Dim j = 0; j < 33; ++j) largest = std::max(largest, std::abs(weight.at({i, j})));
    for (Dim j = 0; j < 33; ++j) EXPECT_LE(std::abs(wide.at({i, j}) - weight.at({i, j})), 0.501 * largest / 127);
  }
}

// 8 rows and more are multiplied in another way.
TEST(CompactWeight, EveryNumberOfRowsGivesTheSameToTheLastDigits) {
  const Tensor weight = random_tensor({70, 130}, 1), bias = random_tensor({70}, 2), x = random_tensor({30, 130}, 3);
  const CompactWeight compact(weight);
  const Tensor rounded = x.to(DType::bf16).to(DType::f32);
  const NoGrad values_only;
  const Tensor want = linear(rounded, compact.widened(), bias);
  for (const Dim rows : {1, 2, 5, 8, 9, 30}) {
    EXPECT_LT(relative_distance(compact.product(x.narrowed(0, 0, rows), bias), want.narrowed(0, 0, rows)), 1e-6)
        << rows;
  }
  EXPECT_EQ(compact.product(reshape(x, {2, 15, 130}), {}).shape(), (Shape{2, 15, 70}));
}

TEST(CompactWeight, RefusesWhatIsNoMatrixAndWhatDoesNotFit) {
  EXPECT_THROW(CompactWeight(Tensor::zeros({3})), ShapeError);
  EXPECT_THROW(CompactWeight(Tensor::zeros({3, 4}, DType::f64)), TypeError);
  EXPECT_THROW(CompactWeight(Tensor::zeros({3, 4})).product(Tensor::zeros({2, 3}), {}), ShapeError);
}

TEST(CompactWeights, ServeWhatIsComputedWithoutGradientsOnly) {
  FeedForward exact(nullptr, "", 16, 32, Activation::relu, 0), compact(nullptr, "", 16, 32, Activation::relu, 0);
  compact_weights(compact);
  const Tensor x = random_tensor({2, 3, 16}, 1);
  EXPECT_EQ(compact(x).to_vector(), exact(x).to_vector());  // part of a graph
  const NoGrad values_only;
  EXPECT_NE(compact(x).to_vector(), exact(x).to_vector());
  EXPECT_LT(relative_distance(compact(x), exact(x)), 0.02);
}

}  // namespace
}  // namespace glass
