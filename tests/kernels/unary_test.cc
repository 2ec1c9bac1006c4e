// Functions of one variable: values and derivatives, at ordinary, large and special arguments.
#include "kernels/unary.h"

#include <gtest/gtest.h>

#include <limits>

#include "kernels/kernel_testing.h"

namespace glass::kernels {
namespace {

constexpr Unary every_function[] = {Unary::exp,     Unary::log,  Unary::sqrt,     Unary::tanh,
                                    Unary::sigmoid, Unary::gelu, Unary::gelu_tanh};

constexpr bool needs_positive(Unary f) { return f == Unary::log || f == Unary::sqrt; }

std::vector<double> arguments(Unary f, int64_t n) {
  std::vector<double> x = random_values<double>(n, 1);
  for (double& value : x) value = needs_positive(f) ? std::abs(value) + 0.125 : value;
  return x;
}

TEST(Unary, EveryFunctionEqualsItsDefinition) {
  for (const Unary f : every_function) {
    for (const int64_t n : ragged_sizes) {
      const std::vector<double> x = arguments(f, n);
      std::vector<double> want;
      for (const double value : x) want.push_back(plain::unary(f, value));
      MisalignedFloats in(x), out(n);
      unary(f, in.data(), n, out.data());
      // A few ε for each; 1 + tanh loses digits where x is negative, which the norm mostly forgives.
      expect_close(out.values(), want, f == Unary::gelu_tanh ? 32 : 8, "unary " + std::to_string(static_cast<int>(f)));
    }
  }
}

TEST(Unary, EveryDerivativeEqualsItsDefinition) {
  for (const Unary f : every_function) {
    for (const int64_t n : ragged_sizes) {
      std::vector<double> saved = arguments(f, n);
      if (derivative_needs_output(f)) {
        for (double& value : saved) value = static_cast<float>(plain::unary(f, value));
      }
      const std::vector<double> dy = random_values<double>(n, 2);
      std::vector<double> want;
      for (size_t i = 0; i < dy.size(); ++i) want.push_back(dy[i] * plain::derivative(f, saved[i]));
      MisalignedFloats in(saved), upstream(dy), out(n);
      unary_backward(f, upstream.data(), in.data(), n, out.data());
      // 1 − y² and 1 − y cancel where y is near 1 (|x| ≤ 2: at most tenfold and more for single elements).
      expect_close(out.values(), want, 64, "derivative " + std::to_string(static_cast<int>(f)));
    }
  }
}

// Element by element over all magnitudes, since a norm hides small values.
TEST(Unary, ExactGeluKeepsItsDigitsInTheTail) {
  std::vector<double> x;
  for (double value = -12; value <= 12; value += 0.0625) x.push_back(value);
  const auto count = static_cast<int64_t>(x.size());
  std::vector<float> in = narrowed(x), y(x.size());
  unary(Unary::gelu, in.data(), count, y.data());
  for (size_t i = 0; i < x.size(); ++i) {
    const double want = x[i] / 2 * std::erfc(-x[i] / std::numbers::sqrt2);
    // The exponent x²/2 is rounded to ε/2 of itself, which is that much of the value.
    const double allowed = (8 + x[i] * x[i] / 2) * float_epsilon * std::abs(want) + 1e-36;
    EXPECT_NEAR(static_cast<double>(y[i]), want, allowed) << x[i];
  }
}

TEST(Unary, ExpIsGoodToTwoUnitsInTheLastPlace) {
  std::vector<float> x, y(20001);
  for (int i = 0; i <= 20000; ++i) x.push_back(static_cast<float>(i - 10000) * 0.00867f);  // ±86.7
  unary(Unary::exp, x.data(), 20001, y.data());
  for (size_t i = 0; i < x.size(); ++i) {
    const double want = std::exp(static_cast<double>(x[i]));
    EXPECT_NEAR(static_cast<double>(y[i]), want, 2 * float_epsilon * want) << x[i];
  }
}

TEST(Unary, SpecialArgumentsGiveWhatTheDefinitionGives) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const Unary f : every_function) {
    for (const float special : {infinity, -infinity, std::nanf(""), 0.0f, -0.0f, 100.0f, -110.0f, 3e38f, -3e38f}) {
      if (needs_positive(f) && special == -0.0f) continue;
      if (f == Unary::gelu_tanh && std::abs(special) > 1e30f) continue;  // 0·∞ in the definition's cubic
      if (f == Unary::gelu && special == -infinity) continue;            // −∞·0
      std::vector<float> x(19, 0.5f), y(19);                             // in a vector and in the rest after it
      for (const size_t place : {size_t{3}, size_t{18}}) x[place] = special;
      unary(f, x.data(), 19, y.data());
      const float want = plain::unary(f, special);
      for (const size_t place : {size_t{3}, size_t{18}}) {
        if (std::isnan(want)) {
          EXPECT_TRUE(std::isnan(y[place])) << static_cast<int>(f) << " of " << special << ": " << y[place];
        } else if (std::isinf(want)) {
          EXPECT_EQ(y[place], want) << static_cast<int>(f) << " of " << special;
        } else {
          EXPECT_NEAR(y[place], want, 1e-5f * std::abs(want) + 1e-35f) << static_cast<int>(f) << " of " << special;
        }
      }
    }
  }
}

TEST(Unary, DerivativesPassNanOn) {
  for (const Unary f : every_function) {
    std::vector<float> saved(19, 0.5f), dy(19, 1), dx(19);
    saved[3] = saved[18] = std::nanf("");
    unary_backward(f, dy.data(), saved.data(), 19, dx.data());
    for (size_t i = 0; i < dx.size(); ++i) EXPECT_EQ(std::isnan(dx[i]), i == 3 || i == 18) << static_cast<int>(f);
  }
}

TEST(Unary, AnyNumberOfThreadsGivesTheSameBits) {
  const auto x = random_values<float>(70001, 1), dy = random_values<float>(70001, 2);
  for (const Unary f : every_function) {
    expect_same_for_any_threads([&] {
      std::vector<float> y(x.size());
      unary_backward(f, dy.data(), x.data(), 70001, y.data());
      for (float& value : y) value = needs_positive(f) || std::isnan(value) ? 1 : value;
      unary(f, y.data(), 70001, y.data());
      return y;
    });
  }
}

}  // namespace
}  // namespace glass::kernels
