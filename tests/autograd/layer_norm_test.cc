#include "autograd/testing.h"

namespace glass {
namespace {

using test::expect_error;
using test::expect_gradcheck;
using test::expect_values;
using test::uniform;

TEST(LayerNorm, Gradients) {
  for (const Shape& shape : {Shape{5}, Shape{1, 2}, Shape{0, 3}, Shape{3, 17}, Shape{2, 3, 7}, Shape{2, 1, 3, 4}}) {
    SCOPED_TRACE(shape.text());
    const Shape width{shape[-1]};
    expect_gradcheck([](const Tensors& in) { return layer_norm(in[0], in[1], in[2]); },
                     {uniform(shape, 1), uniform(width, 2), uniform(width, 3)});
  }
}

TEST(LayerNorm, GradientsOfViewsAndParts) {
  expect_gradcheck([](const Tensors& in) { return layer_norm(transpose(in[0], 0, 1), in[1], in[2]); },
                   {uniform({5, 3}, 1), uniform({5}, 2), uniform({5}, 3)});
  // One number for all columns: the weight and the bias are not dense.
  expect_gradcheck([](const Tensors& in) { return layer_norm(in[0], expand(in[1], {5}), expand(in[2], {5})); },
                   {uniform({3, 5}, 1), uniform({1}, 2), uniform({}, 3)});
  const Tensor x = uniform({3, 5}, 1), weight = uniform({5}, 2), bias = uniform({5}, 3);
  expect_gradcheck([&](const Tensors& in) { return layer_norm(in[0], weight, bias); }, {x});
  expect_gradcheck([&](const Tensors& in) { return layer_norm(x, in[0], bias); }, {weight});
  expect_gradcheck([&](const Tensors& in) { return layer_norm(x, weight, in[0]); }, {bias});
  expect_gradcheck([&](const Tensors& in) { return layer_norm(in[0], weight, bias, 0.5); }, {x});
}

TEST(LayerNorm, Values) {
  const Tensor x = Tensor::from<double>({1, 2, 3, 4}, {1, 4});
  const double deviation = std::sqrt(1.25 + 1e-5);  // the biased variance of 1…4 is 1.25
  const std::vector<double> unit = {-1.5 / deviation, -0.5 / deviation, 0.5 / deviation, 1.5 / deviation};
  const Tensor ones = Tensor::full({4}, 1, DType::f64), zeros = Tensor::zeros({4}, DType::f64);
  expect_values(layer_norm(x, ones, zeros), {1, 4}, unit);
  const Tensor weight = Tensor::from<double>({1, 2, 3, 4}, {4}), bias = Tensor::from<double>({0, 0, 1, -1}, {4});
  expect_values(layer_norm(x, weight, bias), {1, 4}, {unit[0], 2 * unit[1], 3 * unit[2] + 1, 4 * unit[3] - 1});
}

TEST(LayerNorm, OfAConstantRowIsTheBias) {
  const Tensor x = Tensor::full({2, 33}, 1000.25);
  const Tensor y = layer_norm(x, Tensor::full({33}, 2), Tensor::full({33}, 0.5));
  expect_values(y, {2, 33}, std::vector<double>(66, 0.5), 1e-6);
}

// The variance is not formed as a difference of large squares: rows far from zero keep their digits. Near 1000 a
// float32 input is exact to 3e-5 of the deviation 0.5; the mean adds as much again.
TEST(LayerNorm, Float32AgreesWithFloat64FarFromZero) {
  const Tensor x = uniform({5, 67}, 1, DType::f32, 1000, 1002);
  const Tensor weight = uniform({67}, 2, DType::f32), bias = uniform({67}, 3, DType::f32);
  const Tensor exact = layer_norm(x.to(DType::f64), weight.to(DType::f64), bias.to(DType::f64));
  expect_values(layer_norm(x, weight, bias), {5, 67}, exact.to_vector(), 3e-4);
}

TEST(LayerNorm, Errors) {
  const Tensor x = Tensor::zeros({2, 3}), three = Tensor::zeros({3}), four = Tensor::zeros({4});
  expect_error<ShapeError>([&] { layer_norm(x, four, three); }, {"layer_norm", "[2,3]", "[4]", "[3]"});
  expect_error<ShapeError>([&] { layer_norm(x, three, four); }, {"layer_norm", "[2,3]", "[3]", "[4]"});
  expect_error<ShapeError>([&] { layer_norm(Tensor::scalar(1), three, three); }, {"layer_norm", "[]"});
  expect_error<ShapeError>(
      [&] {
        layer_norm(Tensor::zeros({2, 0}), Tensor::zeros({0}), Tensor::zeros({0}));
      },
      {"layer_norm", "[2,0]"});
  expect_error<TypeError>([&] { layer_norm(x, three.to(DType::f64), three); }, {"layer_norm", "float64"});
}

}  // namespace
}  // namespace glass
