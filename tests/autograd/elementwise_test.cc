#include <limits>

#include "autograd/testing.h"

namespace glass {
namespace {

using test::expect_error;
using test::expect_gradcheck;
using test::expect_values;
using test::positive;
using test::uniform;

// Pairs of shapes that broadcast: equal, scalar, missing axes, size-1 axes on either side, both sides at once.
const std::vector<std::pair<Shape, Shape>> broadcasts = {
    {{}, {}},         {{3}, {}},        {{}, {2, 3}},        {{2, 3}, {2, 3}},          {{2, 3}, {3}},
    {{2, 3}, {2, 1}}, {{1, 3}, {2, 1}}, {{5, 1, 7}, {3, 1}}, {{2, 3, 4, 5}, {3, 1, 5}}, {{2, 1, 4, 1}, {1, 3, 1, 5}},
    {{1, 1}, {1}},    {{0, 3}, {3}},    {{0}, {1}},          {{2, 17}, {1, 17}},        {{1, 1, 3}, {4, 2, 1}},
};

TEST(Elementwise, BinaryGradients) {
  for (const auto& [a, b] : broadcasts) {
    SCOPED_TRACE(a.text() + " and " + b.text());
    expect_gradcheck([](const Tensors& in) { return in[0] + in[1]; }, {uniform(a, 1), uniform(b, 2)});
    expect_gradcheck([](const Tensors& in) { return in[0] - in[1]; }, {uniform(a, 1), uniform(b, 2)});
    expect_gradcheck([](const Tensors& in) { return in[0] * in[1]; }, {uniform(a, 1), uniform(b, 2)});
    expect_gradcheck([](const Tensors& in) { return in[0] / in[1]; }, {uniform(a, 1), positive(b, 2)});
  }
}

TEST(Elementwise, BinaryGradientsOfTransposedAndExpandedViews) {
  const Tensors inputs = {positive({3, 4}, 1), positive({4, 3}, 2)};
  const auto flipped = [](const Tensor& x) { return transpose(x, 0, 1); };
  expect_gradcheck([&](const Tensors& in) { return flipped(in[0]) + in[1]; }, inputs);
  expect_gradcheck([&](const Tensors& in) { return in[0] - flipped(in[1]); }, inputs);
  expect_gradcheck([&](const Tensors& in) { return flipped(in[0]) * in[1]; }, inputs);
  expect_gradcheck([&](const Tensors& in) { return in[0] / flipped(in[1]); }, inputs);
  expect_gradcheck([&](const Tensors& in) { return expand(in[0], {2, 3, 4}) * flipped(in[1]); }, inputs);
}

TEST(Elementwise, BinaryGradientsWhenOneSideNeedsNone) {
  const Tensor constant = positive({3});
  expect_gradcheck([&](const Tensors& in) { return in[0] * constant + constant - in[0] / constant; },
                   {uniform({2, 3})});
  expect_gradcheck([&](const Tensors& in) { return constant * in[0] - constant / in[0]; }, {positive({2, 3})});
}

TEST(Elementwise, BinaryGradientsOfOneTensorOnBothSides) {
  expect_gradcheck([](const Tensors& in) { return in[0] * in[0] + in[0] / in[0] - (in[0] - in[0]); }, {positive({3})});
}

TEST(Elementwise, ScalarGradients) {
  expect_gradcheck([](const Tensors& in) { return in[0] + 2.5; }, {uniform({2, 3})});
  expect_gradcheck([](const Tensors& in) { return 2.5 * transpose(in[0], 0, 1); }, {uniform({2, 3})});
  expect_gradcheck([](const Tensors& in) { return -in[0]; }, {uniform({})});
}

TEST(Elementwise, UnaryGradients) {
  for (const Shape& shape : {Shape{}, Shape{1}, Shape{0}, Shape{7}, Shape{3, 5}, Shape{2, 1, 3, 4}}) {
    SCOPED_TRACE(shape.text());
    expect_gradcheck([](const Tensors& in) { return exp(in[0]); }, {uniform(shape)});
    expect_gradcheck([](const Tensors& in) { return log(in[0]); }, {positive(shape)});
    expect_gradcheck([](const Tensors& in) { return sqrt(in[0]); }, {positive(shape)});
    expect_gradcheck([](const Tensors& in) { return tanh(in[0]); }, {uniform(shape)});
    expect_gradcheck([](const Tensors& in) { return sigmoid(in[0]); }, {uniform(shape)});
    expect_gradcheck([](const Tensors& in) { return relu(in[0]); }, {uniform(shape)});
    expect_gradcheck([](const Tensors& in) { return gelu(in[0]); }, {uniform(shape, 1, DType::f64, -3, 3)});
    expect_gradcheck([](const Tensors& in) { return gelu(in[0], GeluForm::tanh); },
                     {uniform(shape, 1, DType::f64, -3, 3)});
  }
}

TEST(Elementwise, UnaryGradientsOfATransposedView) {
  expect_gradcheck([](const Tensors& in) { return tanh(transpose(in[0], 0, 1)); }, {uniform({3, 5})});
  expect_gradcheck([](const Tensors& in) { return transpose(gelu(in[0]), 0, 1); }, {uniform({3, 5})});
}

TEST(Elementwise, MaskedFillGradients) {
  const Tensor keep = test::bools({1, 0, 1}, {3});
  expect_gradcheck([&](const Tensors& in) { return masked_fill(in[0], keep, -4); }, {uniform({2, 3})});
  expect_gradcheck([&](const Tensors& in) { return masked_fill(transpose(in[0], 0, 1), keep, 1); }, {uniform({3, 2})});
  expect_gradcheck([&](const Tensors& in) { return masked_fill(in[0], test::bools({0}, {}), 1); }, {uniform({2, 3})});
}

TEST(Elementwise, CastGradients) {
  Tensor x = test::leaf(uniform({3}, 1, DType::f32));
  backward(sum(cast(x, DType::f64) * 3.0));
  EXPECT_EQ(x.grad().dtype(), DType::f32);
  expect_values(x.grad(), {3}, {3, 3, 3}, 0);
  EXPECT_TRUE(cast(x, DType::f32).same_as(x));
}

TEST(Elementwise, BinaryValues) {
  const Tensor a = Tensor::from<float>({1, 2, 3, 4}, {2, 2}), b = Tensor::from<float>({2, 8}, {2, 1});
  expect_values(a + b, {2, 2}, {3, 4, 11, 12}, 0);
  expect_values(a - b, {2, 2}, {-1, 0, -5, -4}, 0);
  expect_values(a * b, {2, 2}, {2, 4, 24, 32}, 0);
  expect_values(a / b, {2, 2}, {0.5, 1, 0.375, 0.5}, 0);
  expect_values(transpose(a, 0, 1) + a, {2, 2}, {2, 5, 5, 8}, 0);
  expect_values(a + 0.5, {2, 2}, {1.5, 2.5, 3.5, 4.5}, 0);
  expect_values(a * -2.0, {2, 2}, {-2, -4, -6, -8}, 0);
  expect_values(-a, {2, 2}, {-1, -2, -3, -4}, 0);
}

TEST(Elementwise, UnaryValues) {
  const Tensor x = Tensor::from<double>({-1, 0, 1}, {3});
  expect_values(exp(x), {3}, {0.36787944117144233, 1, 2.718281828459045});
  expect_values(tanh(x), {3}, {-0.7615941559557649, 0, 0.7615941559557649});
  expect_values(sigmoid(x), {3}, {0.2689414213699951, 0.5, 0.7310585786300049});
  expect_values(relu(x), {3}, {0, 0, 1}, 0);
  expect_values(gelu(x), {3}, {-0.15865525393145707, 0, 0.8413447460685429});
  expect_values(gelu(x, GeluForm::tanh), {3}, {-0.15880800939172324, 0, 0.8411919906082768});
  expect_values(log(Tensor::from<double>({1, 4}, {2})), {2}, {0, 1.3862943611198906});
  expect_values(sqrt(Tensor::from<double>({0, 9}, {2})), {2}, {0, 3}, 0);
}

// One rounding of each float32 operand and a few of the result.
TEST(Elementwise, Float32AgreesWithFloat64) {
  const Tensor x = uniform({1001}, 3, DType::f64, -5, 5);
  const auto agree = [&](const std::function<Tensor(const Tensor&)>& f) {
    const std::vector<double> expected = f(x.to(DType::f32).to(DType::f64)).to_vector();
    const std::vector<double> actual = f(x.to(DType::f32)).to_vector();
    for (size_t i = 0; i < expected.size(); ++i)
      EXPECT_NEAR(actual[i], expected[i], 5e-6 * (1 + std::abs(expected[i])));
  };
  agree([](const Tensor& v) { return exp(v); });
  agree([](const Tensor& v) { return tanh(v); });
  agree([](const Tensor& v) { return sigmoid(v); });
  agree([](const Tensor& v) { return gelu(v); });
  agree([](const Tensor& v) { return gelu(v, GeluForm::tanh); });
  agree([](const Tensor& v) { return log(v * v + 1.0) + sqrt(v * v) / (v * v + 0.5); });
}

TEST(Elementwise, ReluHasNoGradientAtZeroAndPassesNaNOn) {
  Tensor x = test::leaf(Tensor::from<double>({-1, 0, 2}, {3}));
  backward(sum(relu(x)));
  expect_values(x.grad(), {3}, {0, 0, 1}, 0);
  EXPECT_TRUE(std::isnan(relu(Tensor::scalar(std::numeric_limits<double>::quiet_NaN())).item()));
}

TEST(Elementwise, MaskedFillHidesEvenNaN) {
  Tensor x = test::leaf(Tensor::from<double>({std::numeric_limits<double>::quiet_NaN(), 2}, {2}));
  const Tensor y = masked_fill(x, test::bools({0, 1}, {2}), 7);
  expect_values(y, {2}, {7, 2}, 0);
  backward(sum(y));
  expect_values(x.grad(), {2}, {0, 1}, 0);
}

TEST(Elementwise, GradientsOfBroadcastsHaveTheInputsShape) {
  Tensor a = test::leaf(Tensor::zeros({4, 1, 3})), b = test::leaf(Tensor::zeros({2, 1}));
  backward(sum(a + b));
  expect_values(a.grad(), {4, 1, 3}, std::vector<double>(12, 2), 0);
  expect_values(b.grad(), {2, 1}, {12, 12}, 0);
}

TEST(Elementwise, Errors) {
  const Tensor x = Tensor::zeros({2, 3}), wide = Tensor::zeros({2, 4}), ids = Tensor::zeros({2, 3}, DType::i64);
  const Tensor exact = Tensor::zeros({2, 3}, DType::f64);
  expect_error<ShapeError>([&] { add(x, wide); }, {"add", "[2,3]", "[2,4]"});
  expect_error<ShapeError>([&] { mul(x, wide); }, {"mul", "[2,3]", "[2,4]"});
  expect_error<TypeError>([&] { sub(x, exact); }, {"sub", "float32", "float64", "[2,3]"});
  expect_error<TypeError>([&] { div(x, ids); }, {"div", "int64"});
  expect_error<TypeError>([&] { add(ids, 1); }, {"add", "int64"});
  expect_error<TypeError>([&] { mul(ids, 1); }, {"mul", "int64"});
  expect_error<TypeError>([&] { neg(ids); }, {"neg", "int64"});
  expect_error<TypeError>([&] { exp(ids); }, {"exp", "int64", "[2,3]"});
  expect_error<TypeError>([&] { gelu(x.to(DType::bf16)); }, {"gelu", "bfloat16"});
  expect_error<TypeError>([&] { masked_fill(x, x, 0); }, {"masked_fill", "bool", "float32"});
  expect_error<ShapeError>([&] { masked_fill(x, wide.to(DType::boolean), 0); }, {"masked_fill", "[2,3]", "[2,4]"});
  expect_error<ShapeError>(
      [&] {
        masked_fill(x, Tensor::zeros({5, 2, 3}, DType::boolean), 0);
      },
      {"masked_fill", "[5,2,3]", "[2,3]"});
  expect_error<TypeError>([&] { cast(ids, DType::f32); }, {"cast", "int64"});
  expect_error<TypeError>([&] { cast(x, DType::i32); }, {"cast", "int32"});
}

}  // namespace
}  // namespace glass
