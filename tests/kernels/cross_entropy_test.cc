// Cross-entropy by its formula, its gradient by finite differences, and what must not leak into it.
#include "kernels/cross_entropy.h"

#include <gtest/gtest.h>

#include <limits>

#include "kernels/kernel_testing.h"
#include "kernels/softmax.h"

namespace glass::kernels {
namespace {

constexpr int64_t rows = 5, ignored = -1;
constexpr double smoothing = 0.1;

std::vector<int64_t> labels_for(int64_t n) { return {0, n - 1, ignored, n / 2, 0}; }

// −Σ_v target_v·log p_v, term by term.
CrossEntropySums by_formula(const std::vector<double>& x, const std::vector<int64_t>& labels, int64_t n) {
  CrossEntropySums sums;
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t label = labels[static_cast<size_t>(r)];
    if (label == ignored) continue;
    const double normaliser = plain::log_sum_exp(&x[static_cast<size_t>(r * n)], n);
    for (int64_t v = 0; v < n; ++v) {
      const double log_p = x[static_cast<size_t>(r * n + v)] - normaliser;
      sums.loss -= ((v == label ? 1 - smoothing : 0) + smoothing / static_cast<double>(n)) * log_p;
      if (v == label) sums.nll -= log_p;
    }
    ++sums.count;
  }
  return sums;
}

TEST(CrossEntropy, EqualsItsFormula) {
  for (const int64_t n : ragged_sizes) {
    const auto x = random_values<double>(rows * n, 1);
    const auto labels = labels_for(n);
    const CrossEntropySums want = by_formula(x, labels, n);
    MisalignedFloats narrow(x);
    std::vector<float> narrow_sums(rows);
    std::vector<double> log_sums(rows);
    const auto wide = cross_entropy(x.data(), labels.data(), rows, n, smoothing, ignored, log_sums.data());
    const auto got = cross_entropy(narrow.data(), labels.data(), rows, n, smoothing, ignored, narrow_sums.data());
    EXPECT_EQ(got.count, 4);
    EXPECT_NEAR(wide.loss, want.loss, 1e-12 * (1 + want.loss));
    EXPECT_NEAR(wide.nll, want.nll, 1e-12 * (1 + want.nll));
    // Four log-sum-exps of magnitude up to log n + 2, each good to a few ε.
    const double allowed = 4 * 8 * float_epsilon * (std::log(static_cast<double>(n)) + 2);
    EXPECT_NEAR(got.loss, want.loss, allowed) << n;
    EXPECT_NEAR(got.nll, want.nll, allowed) << n;
  }
}

TEST(CrossEntropy, GradientEqualsFiniteDifferences) {
  const int64_t n = 7;
  auto x = random_values<double>(rows * n, 1);
  const auto labels = labels_for(n);
  std::vector<double> log_sums(rows), dx(x.size());
  auto loss = [&] { return cross_entropy(x.data(), labels.data(), rows, n, smoothing, ignored, log_sums.data()).loss; };
  loss();
  cross_entropy_backward(3.0, x.data(), labels.data(), log_sums.data(), rows, n, smoothing, ignored, dx.data());
  constexpr double step = 1e-5;
  for (size_t i = 0; i < x.size(); ++i) {
    const double at = x[i];
    x[i] = at + step;
    const double above = loss();
    x[i] = at - step;
    const double below = loss();
    x[i] = at;
    // Central differences: step² from the third derivative, ε/step from rounding.
    EXPECT_NEAR(dx[i], 3 * (above - below) / (2 * step), 1e-8) << i;
  }
}

TEST(CrossEntropy, GradientInFloatEqualsThatInDouble) {
  for (const int64_t n : ragged_sizes) {
    if (n == 1) continue;  // it is 0
    const auto x = random_values<double>(rows * n, 1);
    const auto labels = labels_for(n);
    std::vector<double> log_sums(rows), want(x.size());
    cross_entropy(x.data(), labels.data(), rows, n, smoothing, ignored, log_sums.data());
    cross_entropy_backward(2.0, x.data(), labels.data(), log_sums.data(), rows, n, smoothing, ignored, want.data());
    MisalignedFloats narrow(x), dx(rows * n);
    std::vector<float> narrow_sums(rows);
    cross_entropy(narrow.data(), labels.data(), rows, n, smoothing, ignored, narrow_sums.data());
    cross_entropy_backward(2.0f, narrow.data(), labels.data(), narrow_sums.data(), rows, n, smoothing, ignored,
                           dx.data());
    expect_close(dx.values(), want, 16, "cross_entropy_backward of " + std::to_string(n));  // e^error of log Σ exp
  }
}

TEST(CrossEntropy, IgnoredRowsMayHoldAnything) {
  const int64_t n = 19;
  auto x = random_values<float>(rows * n, 1);
  const auto labels = labels_for(n);
  std::vector<float> log_sums(rows), dx(x.size(), 9);
  const auto clean = cross_entropy(x.data(), labels.data(), rows, n, smoothing, ignored, log_sums.data());
  for (int64_t v = 0; v < n; ++v) x[static_cast<size_t>(2 * n + v)] = std::nanf("");
  const auto got = cross_entropy(x.data(), labels.data(), rows, n, smoothing, ignored, log_sums.data());
  EXPECT_EQ(got.loss, clean.loss);
  cross_entropy_backward(1.0f, x.data(), labels.data(), log_sums.data(), rows, n, smoothing, ignored, dx.data());
  for (int64_t v = 0; v < n; ++v) EXPECT_EQ(dx[static_cast<size_t>(2 * n + v)], 0);
}

TEST(CrossEntropy, NonFiniteLogitsAreSeenInTheLoss) {
  for (const float special : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
    auto x = random_values<float>(rows * 35, 1);
    const auto labels = labels_for(35);
    std::vector<float> log_sums(rows);
    x[20] = special;
    EXPECT_FALSE(std::isfinite(cross_entropy(x.data(), labels.data(), rows, 35, 0, ignored, log_sums.data()).loss));
  }
}

TEST(CrossEntropy, AnyNumberOfThreadsGivesTheSameBits) {
  const int64_t many = 300, n = 501;
  const auto x = random_values<float>(many * n, 1);
  std::vector<int64_t> labels(many);
  for (int64_t r = 0; r < many; ++r) labels[static_cast<size_t>(r)] = r % n;
  expect_same_for_any_threads([&] {
    std::vector<float> log_sums(many), dx(x.size());
    const auto sums = cross_entropy(x.data(), labels.data(), many, n, smoothing, ignored, log_sums.data());
    cross_entropy_backward(1.0f, x.data(), labels.data(), log_sums.data(), many, n, smoothing, ignored, dx.data());
    dx.push_back(static_cast<float>(sums.loss));
    dx.push_back(static_cast<float>(sums.nll));
    return dx;
  });
}

}  // namespace
}  // namespace glass::kernels
