#include "glassformer/autograd/autograd.h"

#include "autograd/testing.h"
#include "glassformer/base/scope.h"

namespace glass {
namespace {

using test::expect_error;
using test::expect_values;
using test::leaf;

Tensor numbers(const std::vector<double>& values) { return Tensor::from(values, {static_cast<Dim>(values.size())}); }

TEST(Backward, GivesEachLeafItsGradient) {
  Tensor a = leaf(numbers({1, 2})), b = leaf(numbers({3, 5}));
  backward(sum(a * b + a));
  expect_values(a.grad(), {2}, {4, 6}, 0);
  expect_values(b.grad(), {2}, {1, 2}, 0);
}

TEST(Backward, AddsUpALeafUsedTwice) {
  Tensor x = leaf(numbers({3, -2}));
  backward(sum(x * x));
  expect_values(x.grad(), {2}, {6, -4}, 0);
}

TEST(Backward, VisitsASharedSubexpressionOnce) {
  int calls = 0;
  Tensor x = leaf(numbers({3}));
  const Tensor twice = record("count", x.detach() * 2.0, {x}, [&](const Tensor& dy) {
    ++calls;
    return Tensors{dy * 2.0};
  });
  backward(sum(twice * twice + twice));  // 4x² + 2x
  EXPECT_EQ(calls, 1);
  expect_values(x.grad(), {1}, {26}, 0);
}

TEST(Backward, HandlesDiamondsOfDifferentDepth) {
  Tensor x = leaf(numbers({2}));
  const Tensor y = x * 3.0;
  Tensor deep = y;
  for (int i = 0; i < 5; ++i) deep = deep * 2.0;
  backward(sum(deep + y));  // 3·32·x + 3x
  expect_values(x.grad(), {1}, {99}, 0);
}

TEST(Backward, AccumulatesOverPasses) {
  Tensor x = leaf(numbers({1}));
  backward(sum(x * 2.0));
  backward(sum(x * 3.0));
  expect_values(x.grad(), {1}, {5}, 0);
}

TEST(Backward, AccumulatesIntoTheGivenBuffer) {
  Tensor x = leaf(numbers({1, 2}));
  const Tensor buffer = numbers({10, 20});
  x.set_grad(buffer);
  backward(sum(x * x));
  expect_values(buffer, {2}, {12, 24}, 0);
  EXPECT_EQ(x.grad().raw(), buffer.raw());
}

TEST(Backward, AccumulatesIntoAStridedBuffer) {
  Tensor x = leaf(numbers({1, 2}));
  const Tensor home = Tensor::zeros({2, 2}, DType::f64);
  x.set_grad(home.view_as({2}, {2}, 1));
  backward(sum(x * x));
  backward(sum(x * x));
  expect_values(home, {2, 2}, {0, 4, 0, 8}, 0);
}

TEST(Backward, DoesNotShareTheGradientWithAnyone) {
  Tensor a = leaf(numbers({1})), b = leaf(numbers({1}));
  const Tensor upstream = numbers({1});
  backward(a + b, upstream);
  Tensor grad = a.grad();
  grad.fill(7);
  expect_values(b.grad(), {1}, {1}, 0);
  expect_values(upstream, {1}, {1}, 0);
}

TEST(Backward, StartsFromAnyShapeWithAGradient) {
  Tensor x = leaf(numbers({1, 2}));
  backward(x * x, numbers({1, 10}));
  expect_values(x.grad(), {2}, {2, 40}, 0);
}

TEST(Backward, OfALeafIsTheGivenGradient) {
  Tensor x = leaf(Tensor::scalar(3, DType::f64));
  backward(x);
  expect_values(x.grad(), {}, {1}, 0);
}

TEST(Backward, LeavesConstantsWithoutGradient) {
  Tensor x = leaf(numbers({1}));
  const Tensor constant = numbers({2});
  backward(sum(x * constant));
  EXPECT_FALSE(constant.grad().defined());
}

TEST(Backward, AddsBfloat16GradientsOfOneLeaf) {
  Tensor x = leaf(Tensor::full({2}, 1.5, DType::bf16));
  backward(sum(cast(x, DType::f32) + cast(x, DType::f32)));
  EXPECT_EQ(x.grad().dtype(), DType::bf16);
  expect_values(x.grad(), {2}, {2, 2}, 0);
}

TEST(Backward, BuildsNoGraphOfItsOwn) {
  Tensor x = leaf(numbers({1}));
  bool building = true;
  const Tensor y = record("look", x.detach(), {x}, [&](const Tensor& dy) {
    building = grad_enabled();
    return Tensors{dy};
  });
  backward(sum(y));
  EXPECT_FALSE(building);
  EXPECT_TRUE(grad_enabled());
  EXPECT_FALSE(x.grad().grad_state());
}

TEST(Backward, RefusesASecondPass) {
  Tensor x = leaf(numbers({1}));
  const Scope scope("encoder");
  const Tensor loss = sum(x * x);
  backward(loss);
  expect_error<GradError>([&] { backward(loss); }, {"sum (in encoder)", "freed", "run the forward pass again"});
}

TEST(Backward, RefusesASecondPassThroughASharedPart) {
  Tensor x = leaf(numbers({1}));
  const Tensor shared = x * x;
  backward(sum(shared));
  expect_error<GradError>([&] { backward(sum(shared)); }, {"mul", "run the forward pass again"});
}

TEST(Backward, RefusesWhatDependsOnNothing) {
  expect_error<GradError>([] { backward(sum(numbers({1}))); }, {"depends on nothing that needs a gradient"});
}

TEST(Backward, RefusesALossOfSeveralElements) {
  Tensor x = leaf(numbers({1, 2}));
  expect_error<ShapeError>([&] { backward(x * x); }, {"a loss has one element", "[2]"});
  expect_error<ShapeError>([&] { backward(x * x, numbers({1})); }, {"[1]", "[2]"});
}

TEST(Backward, FindsASavedTensorThatWasChanged) {
  Tensor x = leaf(numbers({1, 2}));
  Tensor factor = numbers({3, 4});
  Tensor y;
  {
    const Scope scope("decoder");
    y = x * factor;
  }
  factor.fill(0);
  expect_error<GradError>([&] { backward(sum(y)); },
                          {"backward of mul (in decoder)", "[2]", "changed in place", "clone()"});
}

TEST(Backward, FindsAChangeThroughAView) {
  Tensor x = leaf(numbers({1, 2}));
  Tensor factor = numbers({3, 4});
  const Tensor y = x * factor;
  factor.narrowed(0, 0, 1).fill(0);
  EXPECT_THROW(backward(sum(y)), GradError);
}

TEST(Backward, AllowsChangingWhatNobodyNeeds) {
  Tensor x = leaf(numbers({1, 2}));
  Tensor addend = numbers({3, 4});
  const Tensor y = x + addend;
  addend.fill(0);
  backward(sum(y));
  expect_values(x.grad(), {2}, {1, 1}, 0);
}

TEST(Backward, NamesTheOperationThatFailed) {
  Tensor x = leaf(numbers({1, 2}));
  const auto with = [&](const Backward& derivative) {
    const Scope scope("place");
    return sum(record("mine", x.detach(), {x}, derivative));
  };
  expect_error<ShapeError>([&] { backward(with([](const Tensor&) {
                                   return Tensors{numbers({1, 2, 3})};
                                 })); },
                           {"backward of mine (in place)", "[3]", "[2]"});
  expect_error<GradError>([&] { backward(with([](const Tensor&) { return Tensors{}; })); },
                          {"backward of mine (in place)", "0 gradients for 1 input"});
  expect_error<Error>([&] { backward(with([](const Tensor& dy) { return Tensors{reshape(dy, {7})}; })); },
                      {"backward of mine (in place)", "reshape"});
}

// Destruction and the backward pass must not recurse as deep as the graph.
TEST(Graph, SurvivesALongChain) {
  constexpr int length = 200'000;
  Tensor x = leaf(Tensor::scalar(1, DType::f64));
  Tensor y = x;
  for (int i = 0; i < length; ++i) y = y + 1.0;
  backward(y);
  expect_values(x.grad(), {}, {1}, 0);
  y = Tensor();  // after a backward pass
  y = x;
  for (int i = 0; i < length; ++i) y = y + 1.0;
  y = Tensor();  // without one
  y = x;
  for (int i = 0; i < length; ++i) y = y + y;  // each input twice
}

// A backward closure that held its own output with its graph would be a cycle, and never be freed.
TEST(Graph, IsFreedWithoutABackwardPass) {
  const auto forward = [] {
    Tensor x = leaf(test::positive({3, 4, 4}));
    const Tensor weight = leaf(test::uniform({4, 4})), row = leaf(test::uniform({4}));
    const Tensor labels = Tensor::from<int64_t>({0, 1, 2, 3}, {4});
    Tensor y = exp(x) + log(x) - sqrt(x) * tanh(x) / sigmoid(x);
    y = relu(y) + gelu(y) + gelu(y, GeluForm::tanh) + softmax(y) + log_softmax(y) + layer_norm(y, row, row);
    y = linear(matmul(y, transpose(y, 1, 2)), weight, row) + max(y, 1, true) + mean(y, 2, true);
    y = concat(split(concat({y, y}, 0), 2, 0), 1) +
        embedding(weight, labels).reshaped({1, 4, 4}).expanded({3, 4, 4}).narrowed(1, 0, 1);
    y = masked_fill(index_select(permute(y, {1, 0, 2}), 0, labels), test::bools({1, 0, 1, 1}, {4}), 0);
    return cross_entropy(slice(y, 1, 0, 1), Tensor::zeros({4, 1}, DType::i64)) + mse(y, y * 2.0);
  };
  (void)forward();
  const size_t before = memory_use().current;
  Tensor loss = forward();
  EXPECT_GT(memory_use().current, before);
  loss = Tensor();
  EXPECT_EQ(memory_use().current, before);
}

TEST(Graph, FreesWhatWasSavedDuringTheBackwardPass) {
  Tensor x = leaf(test::uniform({64, 64}));
  const size_t before = memory_use().current;
  const Tensor loss = sum(tanh(tanh(tanh(x))));
  backward(loss);
  // What stays: the loss and the gradient.
  EXPECT_LE(memory_use().current, before + 2 * 64 * 64 * sizeof(double));
}

TEST(Graph, IsNotBuiltWithoutALeaf) { EXPECT_FALSE((numbers({1}) * numbers({2})).grad_state()); }

TEST(Record, LeavesTheInputItsPlaceWhenItIsReturned) {
  Tensor x = leaf(numbers({1}));
  const Tensor y = record("identity", x, {x}, [](const Tensor& dy) { return Tensors{dy * 3.0}; });
  EXPECT_TRUE(x.requires_grad());
  backward(sum(y));
  expect_values(x.grad(), {1}, {3}, 0);
}

TEST(Record, RefusesAGradientWhereThereIsNoDerivative) {
  const auto round = [](const Tensor& x) { return record_not_differentiable("round", x.detach(), {x}); };
  EXPECT_NO_THROW(round(numbers({1})));
  Tensor x = leaf(numbers({1}));
  expect_error<GradError>([&] { round(x); }, {"round", "no derivative"});
  const NoGrad values_only;
  EXPECT_NO_THROW(round(x));
}

TEST(NoGrad, BuildsNoGraphAndEnds) {
  Tensor x = leaf(numbers({2}));
  {
    const NoGrad outer;
    {
      const NoGrad inner;
      EXPECT_FALSE(grad_enabled());
    }
    EXPECT_FALSE(grad_enabled());
    EXPECT_FALSE((x * x).grad_state());
  }
  EXPECT_TRUE(grad_enabled());
  backward(sum(x * x));
  expect_values(x.grad(), {1}, {4}, 0);
}

TEST(Detach, StopsTheGradient) {
  Tensor x = leaf(numbers({2}));
  backward(sum(x * (x * x).detach()));
  expect_values(x.grad(), {1}, {4}, 0);
}

TEST(RetainGrad, KeepsThatOfAnIntermediateResult) {
  Tensor x = leaf(numbers({2, 3}));
  const Tensor y = x * 2.0;
  retain_grad(y);
  const Tensor other = x * 5.0;
  backward(sum(y * y) + sum(y) + sum(other));
  expect_values(y.grad(), {2}, {9, 13}, 0);  // 2y + 1
  EXPECT_FALSE(other.grad().defined());
}

TEST(RetainGrad, KeepsThatOfTheRoot) {
  Tensor x = leaf(numbers({2}));
  const Tensor y = x * 2.0;
  retain_grad(y);
  backward(y, numbers({4}));
  expect_values(y.grad(), {1}, {4}, 0);
}

TEST(RetainGrad, RefusesATensorOutsideOfAnyGraph) {
  expect_error<GradError>([] { retain_grad(numbers({1})); }, {"retain_grad", "not part of a gradient graph"});
}

TEST(RequiresGrad, IsForFloatingTypesOnly) {
  Tensor ids = Tensor::zeros({2}, DType::i64), flags = Tensor::zeros({2}, DType::boolean);
  EXPECT_THROW(ids.set_requires_grad(true), TypeError);
  EXPECT_THROW(flags.set_requires_grad(true), TypeError);
}

TEST(Saved, MayBeEmpty) {
  EXPECT_FALSE(save(Tensor()).defined());
  EXPECT_FALSE((*save(Tensor())).defined());
}

TEST(ObserveOutputs, SeesEachOperationOfTheForwardPassOnly) {
  std::vector<std::string> seen;
  Tensor x = leaf(numbers({1, 2}));
  Tensor loss;
  {
    const ObserveOutputs observe([&](const char* operation, const Tensor& output, const Tensors& inputs) {
      seen.push_back(std::string(operation) + output.shape().text() + " of " + std::to_string(inputs.size()));
    });
    loss = sum(tanh(x + x), 0);
    backward(loss);
  }
  (void)(x + x);
  EXPECT_EQ(seen, (std::vector<std::string>{"add[2] of 2", "tanh[2] of 1", "sum[] of 1"}));
}

TEST(ObserveOutputs, TheInnermostListens) {
  int outer = 0, inner = 0;
  const ObserveOutputs first([&](const char*, const Tensor&, const Tensors&) { ++outer; });
  {
    const NoGrad values_only;
    const ObserveOutputs second([&](const char*, const Tensor&, const Tensors&) { ++inner; });
    (void)(numbers({1}) + numbers({1}));
  }
  (void)(numbers({1}) + 1.0);
  EXPECT_EQ(outer, 1);
  EXPECT_EQ(inner, 1);
}

}  // namespace
}  // namespace glass
