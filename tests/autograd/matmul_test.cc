#include "autograd/testing.h"

namespace glass {
namespace {

using test::expect_error;
using test::expect_gradcheck;
using test::expect_values;
using test::uniform;

Tensor flipped(const Tensor& x) { return transpose(x, -2, -1); }

TEST(Matmul, Gradients) {
  const auto check = [](const Shape& a, const Shape& b) {
    SCOPED_TRACE(a.text() + " x " + b.text());
    expect_gradcheck([](const Tensors& in) { return matmul(in[0], in[1]); }, {uniform(a, 1), uniform(b, 2)});
  };
  check({1, 1}, {1, 1});
  check({3, 5}, {5, 2});
  check({1, 5}, {5, 1});
  check({5, 1}, {1, 4});
  check({2, 3, 4}, {2, 4, 5});        // one product for each of the batch
  check({2, 3, 4}, {4, 5});           // one right operand
  check({3, 4}, {2, 4, 5});           // one left operand
  check({2, 1, 3, 4}, {1, 3, 4, 2});  // leading axes broadcast on both sides
  check({2, 3, 2, 3}, {3, 3, 2});
  check({1, 2, 3}, {4, 3, 1});
  check({0, 3}, {3, 2});
  check({2, 0}, {0, 3});  // nothing to sum: zeros
  check({0, 2, 3}, {3, 2});
  check({2, 3, 0}, {0, 4});
}

TEST(Matmul, GradientsOfViews) {
  expect_gradcheck([](const Tensors& in) { return matmul(flipped(in[0]), in[1]); },
                   {uniform({2, 4, 3}, 1), uniform({2, 4, 5}, 2)});
  expect_gradcheck([](const Tensors& in) { return matmul(in[0], flipped(in[1])); },
                   {uniform({2, 3, 4}, 1), uniform({2, 5, 4}, 2)});
  expect_gradcheck([](const Tensors& in) { return flipped(matmul(flipped(in[0]), flipped(in[1]))); },
                   {uniform({4, 3}, 1), uniform({5, 4}, 2)});
  // The heads of attention: [B,T,H,K] seen as [B,H,T,K], neither operand dense.
  expect_gradcheck([](const Tensors& in) { return matmul(transpose(in[0], 1, 2), flipped(transpose(in[1], 1, 2))); },
                   {uniform({2, 3, 2, 4}, 1), uniform({2, 5, 2, 4}, 2)});
  expect_gradcheck([](const Tensors& in) { return matmul(slice(in[0], 1, 1, 4), slice(in[1], 0, 2, 5)); },
                   {uniform({3, 5}, 1), uniform({6, 2}, 2)});
  expect_gradcheck(
      [](const Tensors& in) {
        return matmul(expand(in[0], {2, 3, 4}), expand(in[1], {4, 5}));
      },
      {uniform({3, 4}, 1), uniform({1, 5}, 2)});
  // Neither rows nor columns are dense, so the product takes a copy.
  expect_gradcheck(
      [](const Tensors& in) {
        return matmul(permute(in[0], {2, 1, 0}), in[1]);
      },
      {uniform({2, 3, 4}, 1), uniform({2, 5}, 2)});
  expect_gradcheck(
      [](const Tensors& in) {
        return matmul(in[1], slice(permute(in[0], {2, 1, 0}), 0, 1, 3));
      },
      {uniform({2, 3, 4}, 1), uniform({5, 3}, 2)});
}

TEST(Matmul, GradientsOfOneTensorOnBothSides) {
  expect_gradcheck([](const Tensors& in) { return matmul(in[0], in[0]); }, {uniform({3, 3})});
  expect_gradcheck([](const Tensors& in) { return matmul(in[0], flipped(in[0])); }, {uniform({2, 3, 4})});
}

TEST(Matmul, Values) {
  const Tensor a = Tensor::from<float>({1, 2, 3, 4}, {2, 2}), b = Tensor::from<float>({5, 6, 7, 8}, {2, 2});
  expect_values(matmul(a, b), {2, 2}, {19, 22, 43, 50}, 0);
  expect_values(matmul(flipped(a), b), {2, 2}, {26, 30, 38, 44}, 0);
  expect_values(matmul(a, flipped(b)), {2, 2}, {17, 23, 39, 53}, 0);
  expect_values(matmul(Tensor::zeros({2, 0}), Tensor::zeros({0, 2})), {2, 2}, {0, 0, 0, 0}, 0);
  const Tensor stack = concat({reshape(a, {1, 2, 2}), reshape(b, {1, 2, 2})}, 0);
  expect_values(matmul(stack, a), {2, 2, 2}, {7, 10, 15, 22, 23, 34, 31, 46}, 0);
}

TEST(Matmul, ComputesOnlyTheGradientsThatAreNeeded) {
  Tensor a = test::leaf(uniform({2, 3}));
  const Tensor b = uniform({3, 2});
  backward(sum(matmul(a, b)));
  EXPECT_TRUE(a.grad().defined());
  EXPECT_FALSE(b.grad().defined());
}

// The sum of 70 products of numbers below 1 has an error below 70² units of 2⁻²⁴, about 3e-4; far less in practice.
TEST(Matmul, Float32AgreesWithFloat64) {
  const Tensor a = uniform({3, 65, 70}, 1, DType::f32), b = uniform({3, 70, 33}, 2, DType::f32);
  const std::vector<double> exact = matmul(a.to(DType::f64), b.to(DType::f64)).to_vector();
  expect_values(matmul(a, b), {3, 65, 33}, exact, 1e-5);
  const Tensor stored = flipped(b).contiguous();
  expect_values(matmul(a, flipped(stored)), {3, 65, 33}, exact, 1e-5);
}

TEST(Matmul, Errors) {
  const Tensor a = Tensor::zeros({2, 4, 8});
  expect_error<ShapeError>(
      [&] {
        matmul(a, Tensor::zeros({2, 6, 4}));
      },
      {"matmul: inner dimensions differ, [2,4,8] x [2,6,4]"});
  expect_error<ShapeError>([&] { matmul(a, Tensor::zeros({8})); }, {"matmul", "two axes", "[2,4,8] x [8]"});
  expect_error<ShapeError>([&] { matmul(a, Tensor::zeros({3, 8, 4})); }, {"matmul", "[2]", "[3]"});
  expect_error<TypeError>(
      [&] {
        matmul(a, Tensor::zeros({8, 4}, DType::f64));
      },
      {"matmul", "float32 [2,4,8]", "float64 [8,4]"});
}

}  // namespace
}  // namespace glass
