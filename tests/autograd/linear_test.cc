#include "autograd/testing.h"
#include "glassformer/autograd/precision.h"
#include "glassformer/base/threads.h"

namespace glass {
namespace {

using test::expect_error;
using test::expect_gradcheck;
using test::expect_values;
using test::uniform;

TEST(Linear, Gradients) {
  const auto check = [](const Shape& x, Dim in, Dim out) {
    SCOPED_TRACE(x.text());
    expect_gradcheck([](const Tensors& i) { return linear(i[0], i[1], i[2]); },
                     {uniform(x, 1), uniform({out, in}, 2), uniform({out}, 3)});
    expect_gradcheck([](const Tensors& i) { return linear(i[0], i[1], {}); }, {uniform(x, 1), uniform({out, in}, 2)});
  };
  check({5}, 5, 3);
  check({1, 1}, 1, 1);
  check({4, 5}, 5, 1);
  check({2, 3, 4}, 4, 5);
  check({2, 1, 3, 2}, 2, 7);
  check({0, 4}, 4, 3);
  check({2, 0}, 0, 3);
}

TEST(Linear, GradientsOfViewsAndParts) {
  expect_gradcheck([](const Tensors& in) { return linear(transpose(in[0], 0, 1), transpose(in[1], 0, 1), in[2]); },
                   {uniform({3, 2, 4}, 1), uniform({4, 5}, 2), uniform({5}, 3)});
  const Tensor x = uniform({2, 4}), weight = uniform({3, 4}, 2);
  expect_gradcheck([&](const Tensors& in) { return linear(x, weight, in[0]); }, {uniform({3})});
  expect_gradcheck([&](const Tensors& in) { return linear(x, in[0], {}); }, {weight});
  expect_gradcheck([&](const Tensors& in) { return linear(in[0], weight, {}); }, {x});
}

TEST(Linear, Values) {
  const Tensor x = Tensor::from<float>({1, 2}, {1, 1, 2});
  const Tensor weight = Tensor::from<float>({1, 0, 3, 4, 5, 6}, {3, 2}), bias = Tensor::from<float>({0.5, 0, -1}, {3});
  expect_values(linear(x, weight, bias), {1, 1, 3}, {1.5, 11, 16}, 0);
  expect_values(linear(x, weight, {}), {1, 1, 3}, {1, 11, 17}, 0);
}

TEST(Linear, Errors) {
  const Tensor x = Tensor::zeros({2, 4}), weight = Tensor::zeros({3, 4});
  expect_error<ShapeError>([&] { linear(Tensor::zeros({2, 5}), weight, {}); }, {"linear", "[2,5]", "[3,4]"});
  expect_error<ShapeError>([&] { linear(x, Tensor::zeros({4}), {}); }, {"linear", "[2,4]", "[4]"});
  expect_error<ShapeError>([&] { linear(Tensor::zeros({}), weight, {}); }, {"linear", "[]"});
  expect_error<ShapeError>([&] { linear(x, weight, Tensor::zeros({4})); }, {"linear", "bias [4]", "[3,4]"});
  expect_error<TypeError>([&] { linear(x, weight.to(DType::f64), {}); }, {"linear", "float64"});
  expect_error<TypeError>([&] { linear(x, weight, Tensor::zeros({3}, DType::f64)); }, {"linear", "float64"});
}

// What float64 gives for the same rounded numbers; sums of float32 are as far from it as float32 is.
void expect_near_norm(const Tensor& got, const Tensor& wanted) {
  const auto a = got.to_vector(), b = wanted.to_vector();
  ASSERT_EQ(a.size(), b.size());
  double difference = 0, norm = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    difference += (a[i] - b[i]) * (a[i] - b[i]);
    norm += b[i] * b[i];
  }
  EXPECT_GT(norm, 0);
  EXPECT_LE(std::sqrt(difference), 1e-6 * std::sqrt(norm));
}

Tensor rounded(const Tensor& x) { return x.to(DType::bf16).to(DType::f64); }

struct LinearPass {
  Tensor x, weight, bias, y;

  LinearPass(const Shape& input, Dim out)
      : x(test::leaf(uniform(input, 1, DType::f32))),
        weight(test::leaf(uniform({out, input[-1]}, 2, DType::f32))),
        bias(test::leaf(uniform({out}, 3, DType::f32))) {
    const PrecisionScope bf16(Precision::bf16);
    y = linear(x, weight, bias);
  }
};

TEST(LinearInBf16, RoundsItsOperandsAndNothingElse) {
  for (const Shape& input : {Shape{1, 1}, Shape{7, 5}, Shape{3, 50, 33}, Shape{2, 40, 64}}) {
    SCOPED_TRACE(input.text());
    const LinearPass pass(input, 37);
    EXPECT_EQ(pass.y.dtype(), DType::f32);
    const NoGrad values_only;
    expect_near_norm(pass.y, linear(rounded(pass.x), rounded(pass.weight), pass.bias.to(DType::f64)));
  }
}

// The scope is left by then: the backward pass multiplies in what the forward pass did.
TEST(LinearInBf16, GradientsAreThoseOfRoundedOperands) {
  const LinearPass pass({3, 50, 33}, 37);
  const Tensor dy = uniform({3, 50, 37}, 4, DType::f32);
  backward(pass.y, dy);
  const Tensor x = test::leaf(rounded(pass.x)), weight = test::leaf(rounded(pass.weight));
  backward(linear(x, weight, {}), rounded(dy));
  expect_near_norm(pass.x.grad(), x.grad());
  expect_near_norm(pass.weight.grad(), weight.grad());
  expect_near_norm(pass.bias.grad(), sum(sum(dy.to(DType::f64), 0), 0));  // which no product rounds
}

// Rounded beforehand or on the way, the numbers are the same, and the gradient arrives in float32.
TEST(LinearInBf16, TakesWhatWasRoundedForSeveral) {
  const LinearPass apart({3, 50, 33}, 37);
  const Tensor x = test::leaf(apart.x.clone()), weight = test::leaf(apart.weight.clone());
  Tensor y;
  {
    const PrecisionScope bf16(Precision::bf16);
    const Tensor shared = rounded_for_products(x);
    EXPECT_EQ(shared.dtype(), DType::bf16);
    y = linear(shared, weight, apart.bias);
  }
  EXPECT_EQ(y.to_vector(), apart.y.to_vector());
  const Tensor dy = uniform({3, 50, 37}, 4, DType::f32);
  backward(apart.y, dy);
  backward(y, dy);
  EXPECT_EQ(x.grad().dtype(), DType::f32);
  EXPECT_EQ(x.grad().to_vector(), apart.x.grad().to_vector());
  EXPECT_EQ(weight.grad().to_vector(), apart.weight.grad().to_vector());
}

TEST(LinearInBf16, NothingIsRoundedWhereNothingMultipliesInBf16) {
  const Tensor x = test::leaf(uniform({3, 4}, 1, DType::f32)), wide = uniform({3, 4}, 1);
  EXPECT_TRUE(rounded_for_products(x).same_as(x));
  const PrecisionScope bf16(Precision::bf16);
  EXPECT_TRUE(rounded_for_products(wide).same_as(wide));
  expect_error<TypeError>([] { rounded_for_products(Tensor::zeros({2}, DType::i64)); },
                          {"rounded_for_products", "int64"});
}

TEST(LinearInBf16, IsAsCloseToFloat32AsEightBitsAre) {
  const LinearPass pass({200, 64}, 96);
  const Tensor exact = linear(pass.x, pass.weight, pass.bias);
  double difference = 0, norm = 0;
  const auto a = pass.y.to_vector(), b = exact.to_vector();
  for (size_t i = 0; i < a.size(); ++i) {
    difference += (a[i] - b[i]) * (a[i] - b[i]);
    norm += b[i] * b[i];
  }
  const double error = std::sqrt(difference / norm);
  EXPECT_LT(error, 1.0 / 256);   // half a unit of the last of 8 bits
  EXPECT_GT(error, 1.0 / 4096);  // and float32 it is not
}

TEST(LinearInBf16, Float64IsNeverRounded) {
  const PrecisionScope bf16(Precision::bf16);
  expect_gradcheck([](const Tensors& in) { return linear(in[0], in[1], in[2]); },
                   {uniform({4, 5}, 1), uniform({3, 5}, 2), uniform({3}, 3)});
}

TEST(LinearInBf16, AnyNumberOfThreadsGivesTheSameBits) {
  const int before = threads();
  std::vector<std::vector<double>> results;
  for (const int count : {1, 2, 3}) {
    set_threads(count);
    const LinearPass pass({300, 130}, 500);
    backward(pass.y, uniform({300, 500}, 4, DType::f32));
    std::vector<double> all = pass.y.to_vector();
    for (const Tensor& grad : {pass.x.grad(), pass.weight.grad(), pass.bias.grad()}) {
      for (const double value : grad.to_vector()) all.push_back(value);
    }
    results.push_back(all);
  }
  set_threads(before);
  EXPECT_TRUE(results[0] == results[1]);
  EXPECT_TRUE(results[0] == results[2]);
}

TEST(PrecisionScope, EndsWithItsBlockAndNests) {
  EXPECT_EQ(precision(), Precision::f32);
  {
    const PrecisionScope outer(Precision::bf16);
    {
      const PrecisionScope inner(Precision::f32);
      EXPECT_EQ(precision(), Precision::f32);
    }
    EXPECT_EQ(precision(), Precision::bf16);
  }
  EXPECT_EQ(precision(), Precision::f32);
}

}  // namespace
}  // namespace glass
