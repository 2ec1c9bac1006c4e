#include <cmath>

#include "autograd/testing.h"
#include "glassformer/autograd/precision.h"
#include "tensors.h"

namespace glass {
namespace {

using test::expect_error;
using test::expect_gradcheck;
using test::expect_values;
using test::leaf;
using test::relative_distance;
using test::uniform;

Tensor labels(const std::vector<int64_t>& values, const Shape& shape) { return Tensor::from(values, shape); }

TEST(CrossEntropy, Gradients) {
  const auto check = [](const Shape& logits, const Tensor& target, const CrossEntropyOptions& options) {
    SCOPED_TRACE(logits.text());
    expect_gradcheck([&](const Tensors& in) { return cross_entropy_sum(in[0], target, options); },
                     {uniform(logits, 1, DType::f64, -3, 3)});
    expect_gradcheck([&](const Tensors& in) { return cross_entropy(in[0], target, options); },
                     {uniform(logits, 1, DType::f64, -3, 3)});
  };
  for (const double smoothing : {0.0, 0.1}) {
    check({5}, labels({2}, {}), {.label_smoothing = smoothing});
    check({3, 17}, labels({0, 16, 7}, {3}), {.label_smoothing = smoothing});
    check({2, 2, 4}, labels({3, 0, 0, 1}, {2, 2}), {.label_smoothing = smoothing, .ignored = 0});
    check({2, 1}, labels({0, 0}, {2}), {.label_smoothing = smoothing});
    check({0, 4}, labels({}, {0}), {.label_smoothing = smoothing});
    check({2, 4}, labels({-1, -1}, {2}), {.label_smoothing = smoothing});
  }
  const Tensor target = labels({1, 0, 2}, {3});
  expect_gradcheck([&](const Tensors& in) { return cross_entropy(transpose(in[0], 0, 1), target) * 3.0; },
                   {uniform({4, 3})});
}

TEST(CrossEntropy, Values) {
  const Tensor even = Tensor::zeros({1, 2}, DType::f64), x = Tensor::from<double>({1, 2, 3}, {1, 3});
  expect_values(cross_entropy_sum(even, labels({0}, {1})), {}, {std::log(2)});
  const double lse = std::log(std::exp(1) + std::exp(2) + std::exp(3));
  expect_values(cross_entropy_sum(x, labels({2}, {1})), {}, {lse - 3});
  // 0.9 on the label and 0.1 spread over all three, whose mean is 2
  double nll = 0;
  expect_values(cross_entropy_sum(x, labels({2}, {1}), {.label_smoothing = 0.1}, &nll), {},
                {0.9 * (lse - 3) + 0.1 * (lse - 2)});
  EXPECT_NEAR(nll, lse - 3, 1e-12);
}

TEST(CrossEntropy, IgnoresPositionsInValueGradientAndCount) {
  Tensor x = test::leaf(uniform({3, 4}));
  const Tensor target = labels({1, 0, 3}, {3});
  double nll = 0;
  const Tensor loss = cross_entropy_sum(x, target, {.label_smoothing = 0.1, .ignored = 0}, &nll);
  const Tensor kept = concat({x.detach().narrowed(0, 0, 1), x.detach().narrowed(0, 2, 3)}, 0);
  double kept_nll = 0;
  const Tensor expected = cross_entropy_sum(kept, labels({1, 3}, {2}), {.label_smoothing = 0.1}, &kept_nll);
  EXPECT_NEAR(loss.item(), expected.item(), 1e-12);
  EXPECT_NEAR(nll, kept_nll, 1e-12);
  EXPECT_EQ(count_labels(target, 0), 2);
  backward(loss);
  expect_values(x.grad().narrowed(0, 1, 2), {1, 4}, {0, 0, 0, 0}, 0);
}

TEST(CrossEntropy, IsTheSumOverMicroBatches) {
  const Tensor x = uniform({4, 5}), target = labels({1, 2, 3, 4}, {4});
  const double parts = cross_entropy_sum(x.narrowed(0, 0, 1), target.narrowed(0, 0, 1)).item() +
                       cross_entropy_sum(x.narrowed(0, 1, 4), target.narrowed(0, 1, 4)).item();
  EXPECT_NEAR(cross_entropy_sum(x, target).item(), parts, 1e-12);
  EXPECT_NEAR(cross_entropy(x, target).item(), parts / 4, 1e-12);
}

TEST(CrossEntropy, OfNothingIsZero) {
  Tensor x = test::leaf(uniform({2, 3}));
  const Tensor loss = cross_entropy(x, labels({-1, -1}, {2}));
  EXPECT_EQ(loss.item(), 0);
  backward(loss);
  expect_values(x.grad(), {2, 3}, std::vector<double>(6, 0), 0);
}

TEST(CrossEntropy, EqualsItsDefinitionByPlainOperations) {
  const Tensor x = uniform({6, 9}, 1, DType::f64, -4, 4), target = labels({0, 1, 2, 3, 8, 8}, {6});
  Tensor goal = Tensor::full({6, 9}, 0.1 / 9, DType::f64);
  for (Dim i = 0; i < 6; ++i) goal.data<double>()[i * 9 + target.data<int64_t>()[i]] += 0.9;
  Tensor a = test::leaf(x.clone()), b = test::leaf(x.clone());
  const Tensor fused = cross_entropy_sum(a, target, {.label_smoothing = 0.1});
  const Tensor plain = -sum(goal * log_softmax(b));
  EXPECT_NEAR(fused.item(), plain.item(), 1e-12);
  backward(fused);
  backward(plain);
  expect_values(a.grad(), {6, 9}, b.grad().to_vector());
}

TEST(CrossEntropy, DoesNotOverflow) {
  Tensor x = test::leaf(Tensor::from<float>({1e4f, -1e4f}, {1, 2}));
  const Tensor loss = cross_entropy(x, labels({1}, {1}));
  EXPECT_EQ(loss.item(), 2e4);
  backward(loss);
  expect_values(x.grad(), {1, 2}, {1, -1}, 0);
}

TEST(CrossEntropy, Float32AgreesWithFloat64) {
  Tensor x = test::leaf(uniform({3, 301}, 1, DType::f32, -5, 5)), exact = test::leaf(x.detach().to(DType::f64));
  const Tensor target = labels({0, 150, 300}, {3});
  const Tensor loss = cross_entropy(x, target, {.label_smoothing = 0.1});
  const Tensor exact_loss = cross_entropy(exact, target, {.label_smoothing = 0.1});
  EXPECT_NEAR(loss.item(), exact_loss.item(), 1e-5);  // a loss of about 8 in units of 2⁻²⁴
  backward(loss);
  backward(exact_loss);
  expect_values(x.grad(), {3, 301}, exact.grad().to_vector(), 1e-6);
}

TEST(CrossEntropy, Errors) {
  const Tensor x = Tensor::zeros({2, 3});
  expect_error<ShapeError>([&] { cross_entropy(x, labels({0, 0, 0}, {3})); }, {"cross_entropy", "[2,3]", "[3]"});
  expect_error<ShapeError>([&] { cross_entropy(x, labels({0, 0}, {2, 1})); }, {"cross_entropy", "[2,3]", "[2,1]"});
  expect_error<ShapeError>([&] { cross_entropy(Tensor::zeros({2, 0}), labels({0, 0}, {2})); }, {"no class", "[2,0]"});
  expect_error<ValueError>([&] { cross_entropy(x, labels({0, 3}, {2})); }, {"label 3", "place 1", "[0,3)"});
  expect_error<ValueError>([&] { cross_entropy(x, labels({-2, 0}, {2})); }, {"label -2", "place 0"});
  expect_error<ValueError>([&] { cross_entropy(x, labels({0, 0}, {2}), {.label_smoothing = 1}); }, {"label_smoothing"});
  expect_error<TypeError>([&] { cross_entropy(x, Tensor::zeros({2})); }, {"float32"});
  expect_error<TypeError>([&] { cross_entropy(x.to(DType::i32), labels({0, 0}, {2})); }, {"cross_entropy", "int32"});
}

TEST(Mse, GradientsAndValues) {
  expect_gradcheck([](const Tensors& in) { return mse(in[0], in[1]); }, {uniform({2, 3}, 1), uniform({2, 3}, 2)});
  expect_gradcheck([](const Tensors& in) { return mse(in[0], in[1]); }, {uniform({}, 1), uniform({}, 2)});
  expect_values(mse(Tensor::from<float>({1, 2}, {2}), Tensor::from<float>({3, 5}, {2})), {}, {6.5}, 0);
}

TEST(Mse, Errors) {
  expect_error<ShapeError>([] { mse(Tensor::zeros({2}), Tensor::zeros({2, 1})); }, {"mse", "[2]", "[2,1]"});
  expect_error<TypeError>([] { mse(Tensor::zeros({2}), Tensor::zeros({2}, DType::f64)); }, {"mse", "float64"});
}

TEST(LinearCrossEntropy, Gradients) {
  const Tensor target = labels({0, 3, 1, 3}, {2, 2});
  const Tensor x = uniform({2, 2, 3}, 1), weight = uniform({4, 3}, 2), bias = uniform({4}, 3);
  for (const double smoothing : {0.0, 0.2}) {
    const CrossEntropyOptions options{.label_smoothing = smoothing, .ignored = 1};
    expect_gradcheck(
        [&](const Tensors& in) { return linear_cross_entropy_sum(in[0], in[1], in[2], target, options) * 3.0; },
        {x, weight, bias});
    expect_gradcheck([&](const Tensors& in) { return linear_cross_entropy_sum(in[0], in[1], {}, target, options); },
                     {x, weight});
  }
}

// 50,000 classes: their logits are worked on in parts, of 48 rows.
TEST(LinearCrossEntropy, IsTheLossOfTheLogitsInParts) {
  std::vector<int64_t> numbers;
  for (int64_t i = 0; i < 100; ++i) numbers.push_back(i * 499);
  const Tensor target = labels(numbers, {100});
  const CrossEntropyOptions options{.label_smoothing = 0.1, .ignored = 499};
  for (const Precision precision : {Precision::f32, Precision::bf16}) {
    const PrecisionScope multiply_in(precision);
    Tensors stored, parts;
    for (Tensors* in : {&stored, &parts}) {
      *in = {leaf(uniform({100, 5}, 1, DType::f32)), leaf(uniform({50000, 5}, 2, DType::f32)),
             leaf(uniform({50000}, 3, DType::f32))};
    }
    double want_nll = 0, nll = 0;
    const Tensor want = cross_entropy_sum(linear(stored[0], stored[1], stored[2]), target, options, &want_nll);
    const Tensor got = linear_cross_entropy_sum(parts[0], parts[1], parts[2], target, options, &nll);
    EXPECT_NEAR(got.item(), want.item(), 1e-6 * want.item());
    EXPECT_NEAR(nll, want_nll, 1e-6 * want_nll);
    backward(want);
    backward(got);
    for (size_t i = 0; i < parts.size(); ++i)
      EXPECT_LT(relative_distance(parts[i].grad(), stored[i].grad()), 1e-5) << i;
  }
}

TEST(LinearCrossEntropy, FaultsAreNamed) {
  const Tensor x = Tensor::zeros({2, 3}), weight = Tensor::zeros({4, 3}), target = labels({0, 3}, {2});
  expect_error<ShapeError>([&] { linear_cross_entropy_sum(x, Tensor::zeros({4, 2}), {}, target); }, {"[2,3]", "[4,2]"});
  expect_error<ValueError>([&] { linear_cross_entropy_sum(x, weight, {}, labels({0, 4}, {2})); }, {"label 4", "[0,4)"});
  expect_error<ShapeError>([&] { linear_cross_entropy_sum(x, weight, {}, labels({0}, {1})); }, {"[2,3]", "[1]"});
}

}  // namespace
}  // namespace glass
