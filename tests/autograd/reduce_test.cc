#include <limits>

#include "autograd/testing.h"

namespace glass {
namespace {

using test::expect_error;
using test::expect_gradcheck;
using test::expect_values;
using test::uniform;

TEST(Reduce, Gradients) {
  for (const Shape& shape : {Shape{}, Shape{1}, Shape{7}, Shape{3, 5}, Shape{2, 1, 3}, Shape{2, 3, 2, 5}}) {
    SCOPED_TRACE(shape.text());
    const Tensor x = uniform(shape);
    expect_gradcheck([](const Tensors& in) { return sum(in[0]); }, {x});
    expect_gradcheck([](const Tensors& in) { return mean(in[0]); }, {x});
    expect_gradcheck([](const Tensors& in) { return max(in[0]); }, {x});
    for (int axis = -shape.rank(); axis < shape.rank(); ++axis) {
      for (const bool keep_axis : {false, true}) {
        expect_gradcheck([&](const Tensors& in) { return sum(in[0], axis, keep_axis); }, {x});
        expect_gradcheck([&](const Tensors& in) { return mean(in[0], axis, keep_axis); }, {x});
        expect_gradcheck([&](const Tensors& in) { return max(in[0], axis, keep_axis); }, {x});
      }
    }
  }
}

TEST(Reduce, GradientsOfAView) {
  expect_gradcheck([](const Tensors& in) { return sum(transpose(in[0], 0, 1), 0); }, {uniform({3, 5})});
  expect_gradcheck([](const Tensors& in) { return max(transpose(in[0], 0, 1), 0); }, {uniform({3, 5})});
  expect_gradcheck([](const Tensors& in) { return mean(slice(in[0], 1, 1, 4)); }, {uniform({3, 5})});
}

TEST(Reduce, Values) {
  const Tensor x = Tensor::from<float>({1, 5, 3, 4, 2, 6}, {2, 3});
  expect_values(sum(x), {}, {21}, 0);
  expect_values(mean(x), {}, {3.5}, 0);
  expect_values(max(x), {}, {6}, 0);
  expect_values(sum(x, 0), {3}, {5, 7, 9}, 0);
  expect_values(sum(x, 1, true), {2, 1}, {9, 12}, 0);
  expect_values(mean(x, -1), {2}, {3, 4}, 0);
  expect_values(max(x, 0), {3}, {4, 5, 6}, 0);
  expect_values(max(x, 1), {2}, {5, 6}, 0);
}

TEST(Reduce, OverAnEmptyAxisSumsToZero) {
  Tensor x = test::leaf(Tensor::zeros({2, 0, 3}));
  const Tensor y = sum(x, 1);
  expect_values(y, {2, 3}, std::vector<double>(6, 0), 0);
  backward(sum(y));
  EXPECT_EQ(x.grad().shape().text(), "[2,0,3]");
  expect_values(sum(Tensor::zeros({0})), {}, {0}, 0);
}

TEST(Reduce, MaxGivesTheGradientToTheFirstOfEqualMaxima) {
  Tensor x = test::leaf(Tensor::from<double>({2, 7, 7, 1}, {4}));
  backward(max(x));
  expect_values(x.grad(), {4}, {0, 1, 0, 0}, 0);
}

TEST(Reduce, MaxShowsNaN) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(max(Tensor::from<double>({1, nan, 3}, {3})).item()));
}

TEST(Reduce, Errors) {
  const Tensor ids = Tensor::zeros({2, 3}, DType::i64);
  expect_error<TypeError>([&] { sum(ids, 0); }, {"sum", "int64", "[2,3]"});
  expect_error<TypeError>([&] { mean(ids, 0); }, {"mean", "int64", "[2,3]"});
  expect_error<TypeError>([&] { max(ids, 0); }, {"max", "int64", "[2,3]"});
  expect_error<ValueError>([&] { sum(Tensor::zeros({2, 3}), 2); }, {"2", "[2,3]"});
  expect_error<ShapeError>([&] { max(Tensor::zeros({2, 0}), 1); }, {"max", "[2,0]", "empty"});
}

}  // namespace
}  // namespace glass
