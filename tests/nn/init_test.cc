#include "glassformer/nn/init.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "glassformer/nn/stacks.h"

namespace glass {
namespace {

struct Statistics {
  double mean = 0, deviation = 0, largest = 0;  // largest: of the absolute values
};

Statistics statistics(const Tensor& x) {
  Statistics s;
  const auto count = static_cast<double>(x.numel());
  for (const double value : x.to_vector()) {
    s.mean += value / count;
    s.deviation += value * value / count;
    s.largest = std::max(s.largest, std::abs(value));
  }
  s.deviation = std::sqrt(s.deviation - s.mean * s.mean);
  return s;
}

Tensor initialized(const Shape& shape, Initial initial, const InitOptions& options, uint64_t seed = 1,
                   const std::string& path = "weight") {
  Tensor out = Tensor::empty(shape);
  initialize_parameter(out, initial, options, seed, path);
  return out;
}

// 20,000 draws: the deviation of their mean is 0.7 % of theirs, that of their deviation 0.5 %; the largest comes within
// 0.1 % of a uniform's bound with near certainty.
constexpr double of_a_mean = 0.03, of_a_deviation = 0.02, of_a_bound = 0.001;

void expect_uniform(const Tensor& x, double bound) {
  const Statistics s = statistics(x);
  EXPECT_LE(s.largest, bound * (1 + 1e-6));  // the bound itself is rounded to float32
  EXPECT_GE(s.largest, bound * (1 - of_a_bound));
  EXPECT_NEAR(s.deviation, bound / std::sqrt(3.0), of_a_deviation * bound);
  EXPECT_NEAR(s.mean, 0, of_a_mean * s.deviation);
}

TEST(Init, XavierIsUniformByBothWidths) {
  expect_uniform(initialized({100, 200}, Initial::matrix, {InitScheme::xavier}), std::sqrt(6.0 / 300));
  expect_uniform(initialized({200, 100}, Initial::matrix, {InitScheme::xavier}), std::sqrt(6.0 / 300));
}

TEST(Init, KaimingIsUniformByTheInputsWidth) {
  expect_uniform(initialized({100, 200}, Initial::matrix, {InitScheme::kaiming}), std::sqrt(6.0 / 200));
  expect_uniform(initialized({200, 100}, Initial::matrix, {InitScheme::kaiming}), std::sqrt(6.0 / 100));
}

TEST(Init, EmbeddingsAreNormal) {
  const Tensor table = initialized({200, 100}, Initial::embedding, {InitScheme::xavier});
  const Statistics s = statistics(table);
  EXPECT_NEAR(s.deviation, 0.1, of_a_deviation * 0.1);  // 1/√100
  EXPECT_NEAR(s.mean, 0, of_a_mean * s.deviation);
  EXPECT_GT(s.largest, 3.5 * s.deviation);  // no uniform reaches beyond √3 deviations
  EXPECT_LT(s.largest, 6 * s.deviation);
}

TEST(Init, EmbeddingsAreMatricesIfSoChosen) {
  const InitOptions as_matrix{InitScheme::xavier, EmbeddingInit::matrix};
  expect_uniform(initialized({200, 100}, Initial::embedding, as_matrix), std::sqrt(6.0 / 300));
  expect_uniform(initialized({200, 100}, Initial::matrix, as_matrix), std::sqrt(6.0 / 300));
}

TEST(Init, BiasesAndShiftsAreZeroAndGainsOne) {
  const Encoder encoder(nullptr, "", {12, 3, 20, 2, NormScheme::pre, true, Activation::relu, DropoutRates::all(0), {}});
  int zeros = 0, ones = 0;
  for (const NamedParameter& p : encoder.named_parameters()) {
    if (p.tensor.rank() != 1) continue;
    const double want = p.name.ends_with("norm.weight") ? 1 : 0;
    (want == 1 ? ones : zeros)++;
    for (const double value : p.tensor.to_vector()) EXPECT_EQ(value, want) << p.name;
  }
  EXPECT_EQ(ones, 2 * 2 + 1);            // two in each layer and the final one
  EXPECT_EQ(zeros, ones + 2 * (4 + 2));  // a shift for each, and the biases of six Linears in each layer
}

// docs/decisions/0004: as parts of one packed 3D×D matrix.
TEST(Init, QueryKeyAndValueBeginNarrower) {
  const MultiHeadAttention attention(nullptr, "", {100, 4, 0.0, {}});
  for (const Linear* linear : {&attention.query, &attention.key, &attention.value}) {
    expect_uniform(linear->weight, std::sqrt(6.0 / 400));
  }
  expect_uniform(attention.output.weight, std::sqrt(6.0 / 200));
}

TEST(Init, KeyedBySeedAndPath) {
  const auto draw = [](uint64_t seed, const std::string& path) {
    return initialized({5, 4}, Initial::matrix, {InitScheme::xavier}, seed, path).to_vector();
  };
  EXPECT_EQ(draw(1, "layers.0.query.weight"), draw(1, "layers.0.query.weight"));
  EXPECT_NE(draw(1, "layers.0.query.weight"), draw(2, "layers.0.query.weight"));
  EXPECT_NE(draw(1, "layers.0.query.weight"), draw(1, "layers.1.query.weight"));
}

TEST(Init, AParameterDoesNotDependOnWhichOthersExist) {
  StackOptions options{12, 3, 20, 1, NormScheme::pre, true, Activation::relu, DropoutRates::all(0), {}};
  Encoder shallow(nullptr, "", options);
  options.layers = 3;
  options.final_norm = false;
  Encoder deep(nullptr, "", options);
  initialize(shallow, {InitScheme::xavier}, 5);
  initialize(deep, {InitScheme::xavier}, 5);
  const auto a = shallow.layers[0].named_parameters(), b = deep.layers[0].named_parameters();
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i].tensor.to_vector(), b[i].tensor.to_vector()) << a[i].name;
}

TEST(Init, ASchemeReachesEveryMatrix) {
  FeedForward feed_forward(nullptr, "", 100, 200, Activation::relu, 0.0);
  initialize(feed_forward, {InitScheme::kaiming}, 1);
  expect_uniform(feed_forward.inner.weight, std::sqrt(6.0 / 100));
  expect_uniform(feed_forward.outer.weight, std::sqrt(6.0 / 200));
}

TEST(Init, ParametersCanBeLeftToWhoeverFillsThem) {
  const LeaveUninitialized filled_below;
  Tensor weight = Tensor::full({30, 40}, 7);
  initialize_parameter(weight, Initial::matrix, {}, 1, "weight");
  EXPECT_EQ(weight.to_vector(), std::vector<double>(1200, 7));
}

}  // namespace
}  // namespace glass
