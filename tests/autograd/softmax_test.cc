#include <limits>

#include "autograd/testing.h"

namespace glass {
namespace {

using test::bools;
using test::expect_error;
using test::expect_gradcheck;
using test::expect_values;
using test::uniform;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

// A mask that hides about a third.
Tensor some(const Shape& shape) {
  const Tensor draws = uniform(shape, 11);
  std::vector<int> keep;
  for (const double draw : draws.to_vector()) keep.push_back(draw > -0.33);
  return bools(keep, shape);
}

TEST(Softmax, Gradients) {
  for (const Shape& shape :
       {Shape{1}, Shape{7}, Shape{0, 3}, Shape{3, 0}, Shape{4, 1}, Shape{3, 17}, Shape{2, 3, 2, 5}}) {
    SCOPED_TRACE(shape.text());
    expect_gradcheck([](const Tensors& in) { return softmax(in[0]); }, {uniform(shape)});
    expect_gradcheck([](const Tensors& in) { return log_softmax(in[0]); }, {uniform(shape)});
  }
  expect_gradcheck([](const Tensors& in) { return softmax(transpose(in[0], 0, 1)); }, {uniform({3, 5})});
  expect_gradcheck([](const Tensors& in) { return log_softmax(transpose(in[0], 0, 1)); }, {uniform({3, 5})});
}

TEST(Softmax, MaskedGradients) {
  const auto check = [](const Shape& x, const Tensor& keep) {
    SCOPED_TRACE(x.text() + " kept by " + keep.shape().text());
    expect_gradcheck([&](const Tensors& in) { return softmax(in[0], keep); }, {uniform(x)});
  };
  check({7}, some({7}));
  check({7}, bools({0}, {}));
  check({3, 5}, some({3, 5}));
  check({3, 5}, some({5}));
  check({3, 5}, some({3, 1}));                         // whole rows
  check({2, 3, 4, 5}, some({2, 1, 1, 5}));             // key padding
  check({2, 3, 4, 5}, some({4, 5}));                   // causal, for all of the batch
  check({2, 3, 4, 5}, some({1, 3, 1, 5}));             // one for each head
  check({2, 3, 4, 5}, transpose(some({5, 4}), 0, 1));  // a view
  check({2, 1, 2, 3, 5}, some({1, 2, 1, 5}));          // five axes
  check({2, 0}, bools({}, {0}));
}

TEST(Softmax, Values) {
  // exp of 0, −3.1 and −0.3, divided by their sum 1.78587
  expect_values(softmax(Tensor::from<double>({8.2, 5.1, 7.9}, {3})), {3}, {0.56, 0.03, 0.41}, 0.006);
  const double a = 1, b = std::exp(-3.1), c = std::exp(-0.3);
  expect_values(softmax(Tensor::from<double>({8.2, 5.1, 7.9}, {3})), {3},
                {a / (a + b + c), b / (a + b + c), c / (a + b + c)});
  expect_values(softmax(Tensor::from<double>({8.2, 5.1, 7.9}, {3}), bools({1, 0, 1}, {3})), {3},
                {a / (a + c), 0, c / (a + c)});
  expect_values(log_softmax(Tensor::from<double>({0, 0}, {2})), {2}, {-std::log(2), -std::log(2)});
  expect_values(softmax(Tensor::scalar(3).reshaped({1, 1})), {1, 1}, {1}, 0);
}

TEST(Softmax, DoesNotOverflow) {
  expect_values(softmax(Tensor::from<float>({1e30f, 1e30f, -1e30f}, {3})), {3}, {0.5, 0.5, 0}, 0);
  expect_values(log_softmax(Tensor::from<double>({1000, 1000}, {2})), {2}, {-std::log(2), -std::log(2)});
}

TEST(Softmax, OfAScoreRowShiftedIsTheSame) {
  const Tensor x = uniform({5, 9});
  expect_values(softmax(x + 3.0), {5, 9}, softmax(x).to_vector(), 1e-14);
}

TEST(Softmax, RowsWithoutAKeptEntryAreZerosWithZeroGradient) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    Tensor x = test::leaf(uniform({2, 19}, 1, dtype));
    const Tensor keep = bools({0, 1}, {2, 1});
    const Tensor y = softmax(x, keep);
    backward(y, uniform({2, 19}, 2, dtype));
    const std::vector<double> values = y.to_vector(), grad = x.grad().to_vector();
    double kept_sum = 0, kept_grad = 0;
    for (size_t i = 0; i < 19; ++i) {
      EXPECT_EQ(values[i], 0);
      EXPECT_EQ(grad[i], 0);
      kept_sum += values[19 + i];
      kept_grad += std::abs(grad[19 + i]);
    }
    EXPECT_NEAR(kept_sum, 1, 1e-6);
    EXPECT_GT(kept_grad, 0);
  }
}

TEST(Softmax, MaskedEntriesAreExactlyZeroWhateverTheyHold) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    for (const double hidden : {nan, infinity, -infinity, 1e30}) {
      Tensor x = Tensor::zeros({21}, DType::f64);
      x.data<double>()[4] = hidden;
      Tensor keep = Tensor::full({21}, 1, DType::boolean);
      keep.data<bool>()[4] = false;
      x = test::leaf(x.to(dtype).clone());
      const Tensor y = softmax(x, keep);
      backward(y, uniform({21}, 2, dtype));
      for (size_t i = 0; i < 21; ++i) EXPECT_NEAR(y.to_vector()[i], i == 4 ? 0 : 0.05, i == 4 ? 0 : 1e-7);
      EXPECT_EQ(x.grad().to_vector()[4], 0);
    }
  }
}

TEST(Softmax, LetsAVisibleNaNThrough) {
  EXPECT_TRUE(std::isnan(softmax(Tensor::from<double>({1, nan}, {2})).at({1})));
  EXPECT_TRUE(std::isnan(softmax(Tensor::from<float>({1, static_cast<float>(nan)}, {2})).at({1})));
}

TEST(Softmax, Float32AgreesWithFloat64) {
  const Tensor x = uniform({7, 133}, 5, DType::f32, -8, 8);
  const Tensor keep = some({7, 133});
  // Values below 1 with a few units of 2⁻²⁴ each; log-softmax has numbers up to 20.
  expect_values(softmax(x, keep), {7, 133}, softmax(x.to(DType::f64), keep).to_vector(), 5e-7);
  expect_values(log_softmax(x), {7, 133}, log_softmax(x.to(DType::f64)).to_vector(), 1e-5);
}

TEST(Softmax, Errors) {
  const Tensor x = Tensor::zeros({2, 3});
  expect_error<TypeError>([&] { softmax(x.to(DType::i32)); }, {"softmax", "int32", "[2,3]"});
  expect_error<TypeError>([&] { log_softmax(x.to(DType::i32)); }, {"log_softmax", "int32"});
  expect_error<ShapeError>([&] { softmax(Tensor::scalar(1)); }, {"softmax", "scalar"});
  expect_error<ShapeError>([&] { log_softmax(Tensor::scalar(1)); }, {"log_softmax", "scalar"});
  expect_error<TypeError>([&] { softmax(x, x); }, {"softmax", "bool", "float32"});
  expect_error<ShapeError>([&] { softmax(x, bools({1, 0}, {2})); }, {"softmax", "[2,3]", "[2]"});
  expect_error<ShapeError>([&] { softmax(x, some({4, 2, 3})); }, {"softmax", "[4,2,3]", "[2,3]"});
}

}  // namespace
}  // namespace glass
