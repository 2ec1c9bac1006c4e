// AdamW against its formula, element by element over many steps.
#include "kernels/adamw.h"

#include <gtest/gtest.h>

#include "kernels/kernel_testing.h"

namespace glass::kernels {
namespace {

AdamWStep step_number(int64_t step) { return {1e-2, 0.9, 0.98, 1e-8, 0.1, step, 0.5}; }

TEST(AdamW, TenStepsEqualTheFormula) {
  for (const int64_t n : ragged_sizes) {
    std::vector<double> parameter = random_values<double>(n, 1), m(parameter.size()), v(parameter.size());
    MisalignedFloats narrow(parameter), narrow_m(n), narrow_v(n);
    for (int64_t step = 1; step <= 10; ++step) {
      const auto grad = random_values<double>(n, static_cast<uint64_t>(step + 1));
      for (size_t i = 0; i < grad.size(); ++i) plain::adamw(step_number(step), grad[i], parameter[i], m[i], v[i]);
      MisalignedFloats narrow_grad(grad);
      adamw(step_number(step), {{narrow_grad.data(), n, narrow.data(), narrow_m.data(), narrow_v.data()}});
    }
    // Ten roundings of each; those of m may be of numbers larger than what is left of their sum.
    expect_close(narrow.values(), parameter, 16, "parameters");
    expect_close(narrow_m.values(), m, 64, "first moments");
    expect_close(narrow_v.values(), v, 16, "second moments");
  }
}

TEST(AdamW, FirstStepIsTheLearningRateAgainstTheGradientsSign) {
  std::vector<float> grad{3e-5f, -7.0f, 1e5f}, parameter(3), m(3), v(3);
  adamw({1e-3, 0.9, 0.999, 0, 0, 1, 1}, {{grad.data(), 3, parameter.data(), m.data(), v.data()}});
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(parameter[i], grad[i] > 0 ? -1e-3f : 1e-3f, 1e-3f * 8 * static_cast<float>(float_epsilon));
  }
}

TEST(AdamW, WithoutGradientOnlyDecayIsLeft) {
  std::vector<float> grad(5), parameter(5, 2), m(5), v(5);
  adamw({0.5, 0.9, 0.98, 1e-8, 0.25, 1, 1}, {{grad.data(), 5, parameter.data(), m.data(), v.data()}});
  for (const float value : parameter) EXPECT_EQ(value, 2 * (1 - 0.5f * 0.25f));
}

// So that a parameter's place in the buffer does not change its bits.
TEST(AdamW, ElementsInAndBehindVectorsGetTheSameBits) {
  std::vector<float> grad(35, 0.3f), parameter(35, 0.7f), m(35, 0.01f), v(35, 0.02f);
  adamw(step_number(3), {{grad.data(), 35, parameter.data(), m.data(), v.data()}});
  for (const float value : parameter) EXPECT_EQ(value, parameter[0]);
  for (const float value : m) EXPECT_EQ(value, m[0]);
  for (const float value : v) EXPECT_EQ(value, v[0]);
}

TEST(AdamW, AnyNumberOfThreadsGivesTheSameBits) {
  const auto grad = random_values<float>(50003, 1);
  expect_same_for_any_threads([&] {
    std::vector<float> parameter(grad), m(grad.size()), v(grad.size());
    adamw(step_number(1), {{grad.data(), 50003, parameter.data(), m.data(), v.data()}});
    return parameter;
  });
}

// Large and small ones in one call as each by itself.
TEST(AdamW, SeveralArraysAtOnce) {
  const std::vector<int64_t> counts{3, 40000, 0, 17};
  std::vector<std::vector<float>> grads, together, apart, m, v;
  std::vector<AdamWArrays> arrays;
  for (const int64_t count : counts) {
    grads.push_back(random_values<float>(count, static_cast<uint64_t>(count)));
    together.push_back(random_values<float>(count, 9));
    apart.push_back(together.back());
    m.emplace_back(static_cast<size_t>(count));
    v.emplace_back(static_cast<size_t>(count));
  }
  for (size_t i = 0; i < counts.size(); ++i) {
    arrays.push_back({grads[i].data(), counts[i], together[i].data(), m[i].data(), v[i].data()});
  }
  adamw(step_number(2), arrays);
  for (size_t i = 0; i < counts.size(); ++i) {
    std::vector<float> m_apart(m[i].size()), v_apart(v[i].size());
    adamw(step_number(2), {{grads[i].data(), counts[i], apart[i].data(), m_apart.data(), v_apart.data()}});
    EXPECT_EQ(together[i], apart[i]);
    EXPECT_EQ(m[i], m_apart);
    EXPECT_EQ(v[i], v_apart);
  }
}

}  // namespace
}  // namespace glass::kernels
