// Layer normalisation against its definition in float64, and that against finite differences.
#include "kernels/layer_norm.h"

#include <gtest/gtest.h>

#include "kernels/kernel_testing.h"

namespace glass::kernels {
namespace {

constexpr int64_t rows = 37;
constexpr double epsilon = 1e-5;

struct Problem {
  explicit Problem(int64_t width)
      : n(width),
        x(random_values<double>(rows * n, 1)),
        weight(random_values<double>(n, 2)),
        bias(random_values<double>(n, 3)),
        dy(random_values<double>(rows * n, 4)),
        y(x.size()),
        dx(x.size()),
        mean(rows),
        rstd(rows),
        dweight(weight.size()),
        dbias(bias.size()) {}

  void forward() {
    for (int64_t r = 0; r < rows; ++r) {
      plain::layer_norm_row(&x[r * n], weight.data(), bias.data(), n, epsilon, &y[r * n], mean[r], rstd[r]);
    }
  }
  void backward() {
    for (int64_t r = 0; r < rows; ++r) {
      plain::layer_norm_input_gradient_row(&dy[r * n], &x[r * n], weight.data(), mean[r], rstd[r], n, &dx[r * n]);
      plain::layer_norm_parameter_gradient_row(&dy[r * n], &x[r * n], mean[r], rstd[r], n, dweight.data(),
                                               dbias.data());
    }
  }
  double objective() {  // Σ dy·y
    forward();
    double sum = 0;
    for (size_t i = 0; i < y.size(); ++i) sum += dy[i] * y[i];
    return sum;
  }

  int64_t n;
  std::vector<double> x, weight, bias, dy, y, dx, mean, rstd, dweight, dbias;
};

TEST(LayerNorm, FloatEqualsTheDefinition) {
  for (const int64_t n : ragged_sizes) {
    if (n < 3) continue;  // of two values only the sign is left, and of one nothing: no digits to compare
    Problem p(n);
    p.forward();
    p.backward();
    MisalignedFloats x(p.x), weight(p.weight), bias(p.bias), dy(p.dy), y(rows * n), mean(rows), rstd(rows),
        dx(rows * n), dweight(n), dbias(n);
    layer_norm(x.data(), weight.data(), bias.data(), rows, n, epsilon, y.data(), mean.data(), rstd.data());
    layer_norm_backward(dy.data(), x.data(), weight.data(), mean.data(), rstd.data(), rows, n, dx.data(),
                        dweight.data(), dbias.data());
    // Rows of few values that happen to be close amplify rounding by rstd·|x|; of 37 random rows the worst by some
    // tens.
    const double amplified = n < 8 ? 256 : 16;
    expect_close(y.values(), p.y, amplified, "layer_norm of " + std::to_string(n));
    expect_close(mean.values(), p.mean, 4, "its mean");
    expect_close(rstd.values(), p.rstd, amplified, "its rstd");
    expect_close(dx.values(), p.dx, 4 * amplified, "its dx");
    expect_close(dweight.values(), p.dweight, amplified, "its dweight");
    expect_close(dbias.values(), p.dbias, 16, "its dbias");
  }
}

TEST(LayerNorm, DoubleEqualsTheDefinition) {
  Problem p(19);
  p.forward();
  p.backward();
  std::vector<double> y(p.y.size()), mean(rows), rstd(rows), dx(p.dx.size()), dweight(19), dbias(19);
  layer_norm(p.x.data(), p.weight.data(), p.bias.data(), rows, 19, epsilon, y.data(), mean.data(), rstd.data());
  layer_norm_backward(p.dy.data(), p.x.data(), p.weight.data(), mean.data(), rstd.data(), rows, 19, dx.data(),
                      dweight.data(), dbias.data());
  for (size_t i = 0; i < y.size(); ++i) EXPECT_EQ(y[i], p.y[i]);
  for (size_t i = 0; i < dx.size(); ++i) EXPECT_EQ(dx[i], p.dx[i]);
  for (size_t j = 0; j < 19; ++j) EXPECT_NEAR(dweight[j], p.dweight[j], 1e-12);  // summed in another order
}

TEST(LayerNorm, GradientsEqualFiniteDifferences) {
  Problem p(7);
  p.objective();
  p.backward();
  constexpr double step = 1e-5;
  auto check = [&](std::vector<double>& values, const std::vector<double>& gradient) {
    for (size_t i = 0; i < values.size(); ++i) {
      const double at = values[i];
      values[i] = at + step;
      const double above = p.objective();
      values[i] = at - step;
      const double below = p.objective();
      values[i] = at;
      // Rounding of an objective of some hundreds over 2·step, and step² of a third derivative that rstd³ may enlarge.
      EXPECT_NEAR(gradient[i], (above - below) / (2 * step), 1e-5 * (1 + std::abs(gradient[i])));
    }
  };
  check(p.x, p.dx);
  check(p.weight, p.dweight);
  check(p.bias, p.dbias);
}

TEST(LayerNorm, LargeMeanKeepsTheDigitsOfTheDifferences) {
  std::vector<float> x(64), weight(64, 1), bias(64), y(64), mean(1), rstd(1);
  for (size_t j = 0; j < x.size(); ++j) x[j] = 4096.0f + (j % 2 == 0 ? 1.0f : -1.0f);  // exact
  layer_norm(x.data(), weight.data(), bias.data(), 1, 64, 0.0, y.data(), mean.data(), rstd.data());
  for (size_t j = 0; j < y.size(); ++j) EXPECT_EQ(y[j], j % 2 == 0 ? 1.0f : -1.0f);
}

TEST(LayerNorm, EqualValuesGiveTheBias) {
  std::vector<float> x(19, 3), weight(19, 2), bias(19, 0.5f), y(19), mean(1), rstd(1);
  layer_norm(x.data(), weight.data(), bias.data(), 1, 19, epsilon, y.data(), mean.data(), rstd.data());
  for (const float value : y) EXPECT_EQ(value, 0.5f);
}

TEST(LayerNorm, NanStaysInItsRow) {
  auto x = random_values<float>(3 * 35, 1);
  x[35 + 34] = std::nanf("");
  std::vector<float> weight(35, 1), bias(35), y(x.size()), mean(3), rstd(3);
  layer_norm(x.data(), weight.data(), bias.data(), 3, 35, epsilon, y.data(), mean.data(), rstd.data());
  for (size_t i = 0; i < y.size(); ++i) EXPECT_EQ(std::isnan(y[i]), i / 35 == 1) << i;
}

TEST(LayerNorm, GradientsNotAskedForMayBeNull) {
  const auto x = random_values<float>(3 * 5, 1), dy = random_values<float>(3 * 5, 2);
  const std::vector<float> weight(5, 1), mean(3), rstd(3, 1);
  std::vector<float> all(5), alone(5);
  std::vector<float> dx(x.size());
  layer_norm_backward(dy.data(), x.data(), weight.data(), mean.data(), rstd.data(), 3, 5, dx.data(), all.data(),
                      static_cast<float*>(nullptr));
  layer_norm_backward(dy.data(), x.data(), weight.data(), mean.data(), rstd.data(), 3, 5, static_cast<float*>(nullptr),
                      alone.data(), static_cast<float*>(nullptr));
  EXPECT_EQ(all, alone);
}

TEST(LayerNorm, AnyNumberOfThreadsGivesTheSameBits) {
  const int64_t many = 1000, n = 67;
  const auto x = random_values<float>(many * n, 1), dy = random_values<float>(many * n, 2);
  const auto weight = random_values<float>(n, 3), bias = random_values<float>(n, 4);
  expect_same_for_any_threads([&] {
    std::vector<float> y(x.size()), mean(many), rstd(many), dx(x.size()), dweight(n), dbias(n);
    layer_norm(x.data(), weight.data(), bias.data(), many, n, epsilon, y.data(), mean.data(), rstd.data());
    layer_norm_backward(dy.data(), x.data(), weight.data(), mean.data(), rstd.data(), many, n, dx.data(),
                        dweight.data(), dbias.data());
    for (const auto& part : {dx, dweight, dbias}) y.insert(y.end(), part.begin(), part.end());
    return y;
  });
}

}  // namespace
}  // namespace glass::kernels
