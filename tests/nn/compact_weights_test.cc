// Weights in fewer bytes: near the exact ones, the same in every batch, and never in the way of training.
#include <gtest/gtest.h>

#include <cmath>

#include "glassformer/base/error.h"
#include "glassformer/base/isa.h"
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

// As the products round it: to 255 steps of each row's own, or to bf16.
Tensor as_rounded(const Tensor& x) {
  if (!has_int8_products()) return x.to(DType::bf16).to(DType::f32);
  Tensor out = x.clone();
  const Dim columns = x.size(1);
  for (Dim r = 0; r < x.size(0); ++r) {
    float* row = out.data<float>() + r * columns;
    float largest = 0;
    for (Dim j = 0; j < columns; ++j) largest = std::max(largest, std::abs(row[j]));
    for (Dim j = 0; j < columns; ++j) row[j] = std::nearbyint(row[j] * (127 / largest)) * (largest / 127);
  }
  return out;
}

// Without products of bytes, 8 rows and more are multiplied in another way.
TEST(CompactWeight, EveryNumberOfRowsGivesTheSameToTheLastDigits) {
  const Tensor weight = random_tensor({70, 130}, 1), bias = random_tensor({70}, 2), x = random_tensor({30, 130}, 3);
  const CompactWeight compact(weight);
  const NoGrad values_only;
  const Tensor want = linear(as_rounded(x), compact.widened(), bias);
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
