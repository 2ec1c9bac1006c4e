#include <gtest/gtest.h>

#include <cmath>

#include "glassformer/autograd/gradcheck.h"
#include "glassformer/autograd/ops.h"
#include "glassformer/autograd/tap.h"
#include "glassformer/base/error.h"
#include "glassformer/base/random.h"

namespace glass {
namespace {

Tensor random_tensor(const Shape& shape, uint64_t seed, float low = -1, float high = 1) {
  Random random(seed);
  Tensor out = Tensor::empty(shape, DType::f64);
  for (Dim i = 0; i < out.numel(); ++i) out.data<double>()[i] = static_cast<double>(random.uniform(low, high));
  return out;
}

struct GradCase {
  const char* name;
  std::function<Tensor(const Tensors&)> f;
  std::vector<Shape> shapes;
  float low = -1, high = 1;
};

class Gradients : public ::testing::TestWithParam<GradCase> {};

TEST_P(Gradients, EqualFiniteDifferences) {
  const GradCase& c = GetParam();
  Tensors inputs;
  for (size_t i = 0; i < c.shapes.size(); ++i) inputs.push_back(random_tensor(c.shapes[i], i + 1, c.low, c.high));
  const GradcheckResult result = gradcheck(c.f, inputs);
  EXPECT_TRUE(result.ok) << result.message;
}

const Tensor labels = Tensor::from<int32_t>({2, 0, -1, 1}, {4});
const Tensor ids = Tensor::from<int64_t>({1, 3, 1, 0}, {2, 2});
const Tensor keep = Tensor::from<bool>({true, false, true, false, false, false}, {2, 3});

INSTANTIATE_TEST_SUITE_P(
    Operations, Gradients,
    ::testing::Values(
        GradCase{"add", [](const Tensors& x) { return add(x[0], x[1]); }, {{2, 3}, {2, 3}}},
        GradCase{"add_row", [](const Tensors& x) { return add(x[0], x[1]); }, {{5, 3}, {3}}},
        GradCase{"add_middle", [](const Tensors& x) { return add(x[0], x[1]); }, {{2, 3, 4}, {2, 1, 4}}},
        GradCase{"sub_both", [](const Tensors& x) { return sub(x[0], x[1]); }, {{3, 1}, {1, 4}}},
        GradCase{"mul_scalar", [](const Tensors& x) { return mul(x[0], x[1]); }, {{3, 2}, {}}},
        GradCase{"mul_same", [](const Tensors& x) { return mul(x[0], x[0]); }, {{3, 2}}},
        GradCase{"div", [](const Tensors& x) { return div(x[0], x[1]); }, {{2, 3}, {3}}, 0.5, 2},
        GradCase{"exp", [](const Tensors& x) { return exp(x[0]); }, {{7}}},
        GradCase{"log", [](const Tensors& x) { return log(x[0]); }, {{7}}, 0.5, 2},
        GradCase{"sqrt", [](const Tensors& x) { return sqrt(x[0]); }, {{7}}, 0.5, 2},
        GradCase{"tanh", [](const Tensors& x) { return tanh(x[0]); }, {{2, 5}}},
        GradCase{"sigmoid", [](const Tensors& x) { return sigmoid(x[0]); }, {{2, 5}}},
        GradCase{"relu", [](const Tensors& x) { return relu(x[0]); }, {{11}}},
        GradCase{"gelu", [](const Tensors& x) { return gelu(x[0]); }, {{11}}, -3, 3},
        GradCase{"gelu_tanh", [](const Tensors& x) { return gelu(x[0], GeluForm::tanh); }, {{11}}, -3, 3},
        GradCase{"matmul", [](const Tensors& x) { return matmul(x[0], x[1]); }, {{3, 4}, {4, 2}}},
        GradCase{"matmul_batch", [](const Tensors& x) { return matmul(x[0], x[1]); }, {{2, 3, 4}, {2, 4, 5}}},
        GradCase{"matmul_broadcast", [](const Tensors& x) { return matmul(x[0], x[1]); }, {{2, 1, 3, 4}, {5, 4, 1}}},
        GradCase{"matmul_shared_right", [](const Tensors& x) { return matmul(x[0], x[1]); }, {{2, 3, 4}, {4, 5}}},
        GradCase{"matmul_views", [](const Tensors& x) { return matmul(transpose(x[0], 0, 1), transpose(x[1], 0, 1)); }, {{4, 3}, {2, 4}}},
        GradCase{"matmul_heads", [](const Tensors& x) { return matmul(transpose(x[0], 1, 2), transpose(transpose(x[0], 1, 2), 2, 3)); }, {{2, 3, 2, 4}}},
        GradCase{"linear", [](const Tensors& x) { return linear(x[0], x[1], x[2]); }, {{2, 3, 4}, {5, 4}, {5}}},
        GradCase{"linear_no_bias", [](const Tensors& x) { return linear(x[0], x[1], {}); }, {{1, 4}, {5, 4}}},
        GradCase{"reshape", [](const Tensors& x) { return reshape(transpose(x[0], 0, 1), {2, -1}); }, {{3, 4}}},
        GradCase{"permute", [](const Tensors& x) { return permute(x[0], {2, 0, 1}); }, {{2, 3, 4}}},
        GradCase{"slice", [](const Tensors& x) { return slice(x[0], 1, 1, 3); }, {{2, 4, 3}}},
        GradCase{"concat", [](const Tensors& x) { return concat({x[0], x[1], x[0]}, 1); }, {{2, 1}, {2, 3}}},
        GradCase{"split", [](const Tensors& x) { const Tensors p = split(x[0], 2, -1); return mul(p[0], p[1]); }, {{2, 6}}},
        GradCase{"expand", [](const Tensors& x) { return expand(x[0], {3, 2, 4}); }, {{2, 1}}},
        GradCase{"embedding", [](const Tensors& x) { return embedding(x[0], ids); }, {{4, 3}}},
        GradCase{"index_select", [](const Tensors& x) { return index_select(x[0], 1, Tensor::from<int64_t>({2, 2, 0}, {3})); }, {{2, 3, 2}}},
        GradCase{"sum", [](const Tensors& x) { return sum(x[0]); }, {{3, 4}}},
        GradCase{"sum_axis", [](const Tensors& x) { return sum(x[0], 1); }, {{2, 3, 4}}},
        GradCase{"mean_axis", [](const Tensors& x) { return mean(x[0], 0, true); }, {{3, 4}}},
        GradCase{"max_axis", [](const Tensors& x) { return max(x[0], 1); }, {{2, 5, 3}}},
        GradCase{"softmax", [](const Tensors& x) { return softmax(x[0]); }, {{2, 3, 5}}},
        GradCase{"softmax_masked", [](const Tensors& x) { return softmax(x[0], keep); }, {{4, 2, 3}}},
        GradCase{"log_softmax", [](const Tensors& x) { return log_softmax(x[0]); }, {{3, 5}}},
        GradCase{"layer_norm", [](const Tensors& x) { return layer_norm(x[0], x[1], x[2]); }, {{4, 5}, {5}, {5}}},
        GradCase{"masked_fill", [](const Tensors& x) { return masked_fill(x[0], keep, 7); }, {{2, 3}}},
        GradCase{"cross_entropy", [](const Tensors& x) { return cross_entropy(x[0], labels, {0.1, -1}); }, {{4, 3}}},
        GradCase{"mse", [](const Tensors& x) { return mse(x[0], x[1]); }, {{4, 3}, {4, 3}}},
        GradCase{"dropout", [](const Tensors& x) { const RandomScope scope({1, 2, 0}); return dropout(x[0], 0.5); }, {{3, 8}}}),
    [](const auto& info) { return std::string(info.param.name); });

Tensor leaf(const std::vector<float>& values, const Shape& shape) {
  Tensor x = Tensor::from(values, shape);
  x.set_requires_grad(true);
  return x;
}

template <class E, class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const E& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Gradcheck, FindsAWrongDerivative) {
  auto wrong = [](const Tensors& x) {
    return record("wrong", x[0].detach().clone(), {x[0]}, [](const Tensor& dy) { return Tensors{mul(dy, 1.001)}; });
  };
  EXPECT_FALSE(gradcheck(wrong, {random_tensor({3}, 1)}).ok);
}

TEST(Values, SoftmaxOfTheTutorialsScores) {
  const auto y = softmax(Tensor::from({8.2, 5.1, 7.9}, {3})).to_vector();
  EXPECT_NEAR(y[0], 0.56, 0.005);
  EXPECT_NEAR(y[1], 0.03, 0.005);
  EXPECT_NEAR(y[2], 0.41, 0.005);
}

TEST(Values, SmoothedCrossEntropyOfEvenLogits) {
  const Tensor logits = Tensor::zeros({2, 8}), target = Tensor::from<int32_t>({3, 5}, {2});
  EXPECT_NEAR(cross_entropy(logits, target, {0.1, -1}).item(), std::log(8.0), 1e-6);
  double nll = 0;
  cross_entropy_sum(logits, target, {0.1, -1}, &nll);
  EXPECT_NEAR(nll, 2 * std::log(8.0), 1e-6);
}

TEST(Errors, SayOperationAndShapes) {
  const Tensor a = Tensor::zeros({2, 4, 8}), b = Tensor::zeros({2, 6, 4});
  EXPECT_EQ(message_of<ShapeError>([&] { matmul(a, b); }), "matmul: inner dimensions differ, [2,4,8] x [2,6,4]");
  EXPECT_NE(message_of<ShapeError>([&] { add(a, b); }).find("[2,4,8] and [2,6,4]"), std::string::npos);
  EXPECT_NE(message_of<TypeError>([&] { add(a, a.to(DType::f64)); }).find("float64"), std::string::npos);
  EXPECT_NE(message_of<TypeError>([&] { relu(a.to(DType::i32)); }).find("int32"), std::string::npos);
  EXPECT_NE(message_of<ValueError>([&] { embedding(Tensor::zeros({3, 2}), Tensor::from<int32_t>({0, 3}, {2})); })
                .find("index 3 at place 1"),
            std::string::npos);
  EXPECT_THROW(cross_entropy(Tensor::zeros({1, 3}), Tensor::from<int32_t>({3}, {1})), ValueError);
  EXPECT_THROW(permute(a, {0, 0, 1}), ValueError);
  EXPECT_THROW(split(a, 3, 2), ShapeError);
  EXPECT_THROW(slice(a, 1, 2, 5), ValueError);
  EXPECT_THROW(dropout(a, 1.0), ValueError);
  EXPECT_NE(message_of<Error>([&] { dropout(a, 0.5); }).find("RandomScope"), std::string::npos);
  EXPECT_THROW(Tensor::zeros({2}, DType::i32).set_requires_grad(true), TypeError);
}

TEST(Backward, SecondTimeIsAnError) {
  const Tensor x = leaf({1, 2}, {2});
  const Tensor loss = sum(mul(x, x));
  backward(loss);
  EXPECT_EQ(x.grad().to_vector(), (std::vector<double>{2, 4}));
  EXPECT_NE(message_of<GradError>([&] { backward(loss); }).find("run the forward pass again"), std::string::npos);
}

TEST(Backward, ChangeInPlaceIsAnError) {
  const Tensor x = leaf({1, 2}, {2});
  Tensor y = mul(x, 3.0);
  const Tensor loss = sum(mul(y, y));
  y.fill(0);
  EXPECT_NE(message_of<GradError>([&] { backward(loss); }).find("changed in place"), std::string::npos);
}

TEST(Backward, NeedsAScalarAndAGraph) {
  EXPECT_THROW(backward(mul(leaf({1, 2}, {2}), 2.0)), ShapeError);
  EXPECT_THROW(backward(sum(Tensor::zeros({2}))), GradError);
}

TEST(Backward, OperationWithoutADerivativeThrows) {
  const Tensor x = leaf({1, 2}, {2});
  EXPECT_THROW(record_not_differentiable("argmax", Tensor::zeros({}), {x}), GradError);
  const NoGrad none;
  EXPECT_NO_THROW(record_not_differentiable("argmax", Tensor::zeros({}), {x}));
}

TEST(Backward, AddsToAGivenBufferAndRetainsOnRequest) {
  Tensor x = leaf({1, 2}, {2});
  const Tensor buffer = Tensor::full({2}, 10);
  x.set_grad(buffer);
  const Tensor y = mul(x, 3.0);
  retain_grad(y);
  backward(sum(mul(y, y)));
  EXPECT_EQ(buffer.to_vector(), (std::vector<double>{10 + 18, 10 + 36}));
  EXPECT_EQ(y.grad().to_vector(), (std::vector<double>{6, 12}));
}

TEST(Backward, LongChainsNeitherRecurseNorLeak) {
  const size_t before = memory_use().current;
  {
    const Tensor x = leaf({1}, {1});
    Tensor y = x;
    for (int i = 0; i < 200000; ++i) y = add(y, 0.0);
    backward(y);
    EXPECT_EQ(x.grad().item(), 1);
    for (int i = 0; i < 200000; ++i) y = add(y, x);  // and one that is only dropped
  }
  EXPECT_EQ(memory_use().current, before);
}

TEST(Softmax, FullyMaskedRowHasZeroGradient) {
  const Tensor x = leaf({1, 2, 3, 4}, {2, 2});
  const Tensor y = softmax(x, Tensor::from<bool>({false, false, true, true}, {2, 2}));
  backward(sum(mul(y, Tensor::from({1.0f, 2.0f, 3.0f, 4.0f}, {2, 2}))));
  EXPECT_EQ(y.at({0, 0}), 0);
  EXPECT_EQ(x.grad().at({0, 0}), 0);
  EXPECT_EQ(x.grad().at({0, 1}), 0);
  EXPECT_NE(x.grad().at({1, 0}), 0);
}

TEST(Dropout, DrawsByPlace) {
  const RandomScope scope({1, 2, 0});
  const Tensor ones = Tensor::full({4, 100, 10}, 1);
  const Tensor y = dropout(ones, 0.3);
  double kept = 0;
  for (const double value : y.to_vector()) kept += value > 0;
  EXPECT_NEAR(kept / 4000, 0.7, 5 * std::sqrt(0.21 / 4000));  // five standard errors
  EXPECT_NEAR(y.to_vector()[0] == 0 ? 1 / 0.7 : y.to_vector()[0], 1 / 0.7, 1e-6);
  // A longer padding changes nothing that was there.
  EXPECT_EQ(dropout(Tensor::full({4, 130, 10}, 1), 0.3).narrowed(1, 0, 100).contiguous().to_vector(), y.to_vector());
  // Row 2 alone, said to be example 2.
  const RandomScope later({1, 2, 2});
  EXPECT_EQ(dropout(Tensor::full({1, 100, 10}, 1), 0.3).to_vector(), y.narrowed(0, 2, 3).contiguous().to_vector());
  const Scope other("elsewhere");
  EXPECT_NE(dropout(Tensor::full({1, 100, 10}, 1), 0.3).to_vector(), y.narrowed(0, 2, 3).contiguous().to_vector());
}

TEST(Taps, ReachTheListenerWithTheirPath) {
  std::string heard;
  const Tensor x = Tensor::zeros({2});
  tap("silent", x);
  {
    const ListenToTaps listen([&](const std::string& path, const Tensor& value) { heard += path + value.shape().text(); });
    const Scope scope("encoder");
    EXPECT_TRUE(tap("scores", x).same_as(x));
  }
  tap("silent", x);
  EXPECT_EQ(heard, "encoder.scores[2]");
}

TEST(Observers, SeeEveryOutput) {
  std::vector<std::string> seen;
  {
    const ObserveOutputs observe([&](const char* operation, const Tensor&, const Tensors&) { seen.emplace_back(operation); });
    relu(mul(Tensor::zeros({2}), 2.0));
  }
  EXPECT_EQ(seen, (std::vector<std::string>{"mul", "relu"}));
}

}  // namespace
}  // namespace glass
