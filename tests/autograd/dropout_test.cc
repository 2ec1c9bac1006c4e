#include "autograd/testing.h"
#include "glassformer/base/scope.h"

namespace glass {
namespace {

using test::expect_error;
using test::expect_same_bits;
using test::uniform;

Tensor dropped(const Tensor& x, const RandomContext& context = {}, double rate = 0.4, int stream = 0) {
  const RandomScope scope(context);
  return dropout(x, rate, stream);
}

Tensor ones(const Shape& shape) { return Tensor::full(shape, 1); }

TEST(Dropout, KeepsTheShareAndTheMean) {
  for (const double rate : {0.1, 0.5, 0.9}) {
    const Tensor y = dropped(ones({40, 50, 64}), {.seed = 3}, rate);
    const std::vector<double> values = y.to_vector();
    double kept = 0;
    for (const double value : values) {
      if (value == 0) continue;
      ++kept;
      EXPECT_NEAR(value, 1 / (1 - rate), 1e-6);
    }
    const auto count = static_cast<double>(values.size());
    // Five deviations of a binomial share.
    EXPECT_NEAR(kept / count, 1 - rate, 5 * std::sqrt(rate * (1 - rate) / count));
  }
}

// Neither rows nor columns nor neighbours may share their fate: the shares of both dropped are the product.
TEST(Dropout, DrawsNeighboursIndependently) {
  const Dim rows = 200, columns = 256;
  const std::vector<double> y = dropped(ones({rows, columns}), {.seed = 5}, 0.5).to_vector();
  const auto both = [&](Dim down, Dim right) {
    double count = 0, pairs = 0;
    for (Dim i = 0; i + down < rows; ++i) {
      for (Dim j = 0; j + right < columns; ++j, ++pairs) {
        count += y[static_cast<size_t>(i * columns + j)] == 0 &&
                 y[static_cast<size_t>((i + down) * columns + j + right)] == 0;
      }
    }
    return count / pairs;
  };
  const double deviation = std::sqrt(0.25 * 0.75 / static_cast<double>(rows * columns));
  for (const auto& [down, right] :
       std::vector<std::pair<Dim, Dim>>{{0, 1}, {1, 0}, {1, 1}, {0, 4}, {0, 8}, {0, 128}, {8, 0}}) {
    EXPECT_NEAR(both(down, right), 0.25, 6 * deviation) << down << ", " << right;
  }
}

TEST(Dropout, GradientFollowsTheSameDraws) {
  for (const Shape& shape : {Shape{3, 7}, Shape{2, 3, 5}, Shape{2, 3, 4, 5}}) {
    test::expect_gradcheck([](const Tensors& in) { return dropped(in[0], {.seed = 1}, 0.3); }, {uniform(shape)});
  }
  test::expect_gradcheck([](const Tensors& in) { return dropped(transpose(in[0], 0, 1), {.seed = 1}, 0.3); },
                         {uniform({7, 3})});
}

// The backward pass runs after the scopes of the forward pass have ended.
TEST(Dropout, GradientDoesNotDependOnTheScopeOfTheBackwardPass) {
  Tensor x = test::leaf(ones({4, 33}));
  Tensor y;
  {
    const Scope scope("encoder");
    y = dropped(x, {.seed = 1, .step = 2});
  }
  const RandomScope other({.seed = 9});
  backward(sum(y));
  expect_same_bits(x.grad(), y);
}

TEST(Dropout, IsKeyedBySeedStepScopeAndStream) {
  const Tensor x = ones({4, 64});
  const std::vector<double> base = dropped(x, {.seed = 1, .step = 1}).to_vector();
  EXPECT_EQ(dropped(x, {.seed = 1, .step = 1}).to_vector(), base);
  EXPECT_NE(dropped(x, {.seed = 2, .step = 1}).to_vector(), base);
  EXPECT_NE(dropped(x, {.seed = 1, .step = 2}).to_vector(), base);
  EXPECT_NE(dropped(x, {.seed = 1, .step = 1}, 0.4, 1).to_vector(), base);
  const Scope scope("encoder");
  EXPECT_NE(dropped(x, {.seed = 1, .step = 1}).to_vector(), base);
}

TEST(Dropout, AnExampleIsDrawnTheSameInAnyMicroBatch) {
  for (const Shape& rest : {Shape{9}, Shape{5, 9}, Shape{2, 5, 9}}) {
    Shape whole{6}, half{2};
    for (const Dim extent : rest) whole.append(extent), half.append(extent);
    const Tensor all = dropped(ones(whole), {.seed = 1});
    expect_same_bits(dropped(ones(half), {.seed = 1, .first_example = 4}), all.narrowed(0, 4, 6));
  }
}

TEST(Dropout, DoesNotDependOnTheLengthOfThePadding) {
  expect_same_bits(dropped(ones({3, 5, 8})), dropped(ones({3, 11, 8})).narrowed(1, 0, 5));
  // Attention weights [B,H,T,S]: more queries, more keys.
  expect_same_bits(dropped(ones({2, 3, 5, 7})), dropped(ones({2, 3, 9, 7})).narrowed(2, 0, 5));
  expect_same_bits(dropped(ones({2, 3, 5, 7})), dropped(ones({2, 3, 5, 21})).narrowed(3, 0, 7));
}

TEST(Dropout, DoesNotDependOnTheLayoutInMemory) {
  const Tensor x = uniform({5, 8}, 1, DType::f32);
  const Tensor stored = transpose(x, 0, 1).contiguous();
  expect_same_bits(dropped(transpose(stored, 0, 1)), dropped(x));
}

TEST(Dropout, DrawsTheSameInFloat64) {
  const std::vector<double> narrow = dropped(ones({4, 33})).to_vector();
  const std::vector<double> wide = dropped(ones({4, 33}).to(DType::f64)).to_vector();
  for (size_t i = 0; i < narrow.size(); ++i) EXPECT_EQ(narrow[i] == 0, wide[i] == 0) << i;
}

TEST(Dropout, OfRateZeroIsItsInput) {
  const Tensor x = ones({2, 3});
  EXPECT_TRUE(dropout(x, 0).same_as(x));
}

TEST(Dropout, Errors) {
  const Tensor x = ones({2, 3});
  expect_error<Error>([&] { dropout(x, 0.5); }, {"dropout", "RandomScope"});
  expect_error<ValueError>([&] { dropped(x, {}, 1); }, {"dropout", "[0,1)"});
  expect_error<ValueError>([&] { dropped(x, {}, -0.1); }, {"dropout", "[0,1)"});
  expect_error<ShapeError>([&] { dropped(ones({3})); }, {"dropout", "[3]"});
  expect_error<ShapeError>([&] { dropped(ones({1, 1, 1, 1, 3})); }, {"dropout", "[1,1,1,1,3]"});
  expect_error<TypeError>([&] { dropped(x.to(DType::i32)); }, {"dropout", "int32"});
}

}  // namespace
}  // namespace glass
