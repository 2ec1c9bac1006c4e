// Derivatives that add to a leaf's own sum in place give what they give where the weight is no leaf.
#include "autograd/testing.h"
#include "glassformer/autograd/precision.h"

namespace glass {
namespace {

using test::uniform;

using LossOfWeight = std::function<Tensor(const Tensor& weight)>;

// The gradient after two backward passes, into a buffer that held ones, or from nothing.
Tensor gradient_of(const LossOfWeight& loss, const Tensor& values, bool as_leaf, bool from_ones) {
  Tensor weight = test::leaf(values.clone()), buffer;
  if (from_ones) weight.set_grad(buffer = Tensor::full(values.shape(), 1, values.dtype()));
  for (int pass = 0; pass < 2; ++pass) {
    backward(loss(as_leaf ? weight : mul(weight, 1.0)));
    if (!buffer.defined()) buffer = weight.grad();
  }
  EXPECT_EQ(weight.grad().id(), buffer.id());
  return weight.grad();
}

void expect_same_gradient(const LossOfWeight& loss, const Tensor& values, double tolerance) {
  for (const bool from_ones : {true, false}) {
    const std::vector<double> direct = gradient_of(loss, values, true, from_ones).to_vector(),
                              given = gradient_of(loss, values, false, from_ones).to_vector();
    for (size_t i = 0; i < direct.size(); ++i) ASSERT_NEAR(direct[i], given[i], tolerance) << "element " << i;
  }
}

Tensor weighted_sum(const Tensor& y) { return sum(mul(y, uniform(y.shape(), 9, y.dtype()))); }

TEST(LeafGradient, OfLinear) {
  for (const DType type : {DType::f32, DType::f64}) {
    const Tensor x = uniform({3, 7, 5}, 1, type);
    expect_same_gradient([&](const Tensor& w) { return weighted_sum(linear(x, w, {})); }, uniform({4, 5}, 2, type),
                         type == DType::f32 ? 1e-5 : 1e-14);
  }
}

TEST(LeafGradient, OfLinearInBf16) {
  const Tensor x = uniform({3, 7, 5}, 1, DType::f32);
  const auto loss = [&](const Tensor& w) {
    const PrecisionScope bf16(Precision::bf16);
    return weighted_sum(linear(x, w, {}));
  };
  expect_same_gradient(loss, uniform({4, 5}, 2, DType::f32), 1e-5);
}

TEST(LeafGradient, OfAnEmbedding) {
  const Tensor ids = Tensor::from<int32_t>({1, 5, 1, 0, 1, 5}, {2, 3});
  expect_same_gradient([&](const Tensor& w) { return weighted_sum(embedding(w, ids)); }, uniform({6, 4}, 2), 1e-14);
}

TEST(LeafGradient, OfAnOutputLayerWithItsLoss) {
  const Tensor x = uniform({2, 3, 5}, 1), labels = Tensor::from<int32_t>({1, 5, 1, 0, 1, 5}, {2, 3});
  const auto loss = [&](const Tensor& w) {
    return mul(linear_cross_entropy_sum(x, w, {}, labels, {.label_smoothing = 0.1}), 0.25);
  };
  expect_same_gradient(loss, uniform({6, 5}, 2), 1e-14);
}

// As a model's embedding and output layer that are one.
TEST(LeafGradient, OfAWeightThatSeveralUse) {
  const Tensor ids = Tensor::from<int32_t>({1, 5, 1, 0, 1, 5}, {2, 3});
  const auto loss = [&](const Tensor& w) { return weighted_sum(linear(tanh(embedding(w, ids)), w, {})); };
  expect_same_gradient(loss, uniform({6, 4}, 2), 1e-14);
}

// A buffer that is no dense array of the weight's type takes no part in place, and its sum is right all the same.
TEST(LeafGradient, OfABufferThatIsAView) {
  const Tensor x = uniform({7, 5}, 1);
  const Tensor values = uniform({4, 5}, 2);
  Tensor weight = test::leaf(values.clone()), usual = test::leaf(values.clone());
  weight.set_grad(Tensor::zeros({5, 4}, DType::f64).transposed(0, 1));
  backward(weighted_sum(linear(x, weight, {})));
  backward(weighted_sum(linear(x, usual, {})));
  EXPECT_EQ(weight.grad().to_vector(), usual.grad().to_vector());
}

}  // namespace
}  // namespace glass
