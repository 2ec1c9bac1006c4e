#include "glassformer/inspect/statistics.h"

#include <gtest/gtest.h>

#include <cmath>

namespace glass {
namespace {

constexpr float inf = std::numeric_limits<float>::infinity();

TEST(Statistics, OfKnownNumbers) {
  const Statistics s = statistics_of(Tensor::from<float>({1, 2, 3, 6}, {2, 2}));
  EXPECT_EQ(s.count, 4);
  EXPECT_EQ(s.non_finite, 0);
  EXPECT_EQ(s.min, 1);
  EXPECT_EQ(s.max, 6);
  EXPECT_EQ(s.mean, 3);
  EXPECT_DOUBLE_EQ(s.deviation(), std::sqrt(3.5));
}

TEST(Statistics, WhatIsNotFiniteIsCountedAndLeftOut) {
  const Statistics s = statistics_of(Tensor::from<float>({1, std::nanf(""), inf, -inf, 3}, {5}));
  EXPECT_EQ(s.non_finite, 3);
  EXPECT_EQ(s.finite(), 2);
  EXPECT_EQ(s.mean, 2);
  EXPECT_EQ(s.max, 3);
  Statistics none = statistics_of(Tensor::from<float>({inf}, {1}));
  EXPECT_EQ(none.finite(), 0);
  EXPECT_EQ(none.deviation(), 0);
  none.add(s);
  EXPECT_EQ(none.mean, 2);
  EXPECT_EQ(none.non_finite, 4);
}

// Far from zero, where the difference of two large sums would keep no digit of the deviation.
TEST(Statistics, PartsGiveWhatTheWholeGives) {
  std::vector<double> numbers;
  for (int i = 0; i < 60; ++i) numbers.push_back(1e9 + std::sin(i));
  const Statistics whole = statistics_of(Tensor::from(numbers, {60}));
  Statistics parts;
  for (const auto& [begin, end] : {std::pair(0, 1), std::pair(1, 1), std::pair(1, 40), std::pair(40, 60)}) {
    parts.add(Tensor::from(std::vector<double>(numbers.begin() + begin, numbers.begin() + end), {end - begin}));
  }
  EXPECT_EQ(parts.count, 60);
  EXPECT_EQ(parts.min, whole.min);
  EXPECT_NEAR(parts.mean, whole.mean, 1e-6);  // ε·1e9
  EXPECT_NEAR(parts.deviation(), whole.deviation(), 1e-6);
  EXPECT_NEAR(whole.deviation(), 0.7, 0.05);
}

TEST(Statistics, OtherTypesAndViews) {
  EXPECT_EQ(statistics_of(Tensor::from<int32_t>({2, 4}, {2})).mean, 3);
  EXPECT_EQ(statistics_of(Tensor::from<float>({1, 2, 3, 4}, {2, 2}).narrowed(1, 1, 2)).min, 2);
  EXPECT_EQ(statistics_of(Tensor::full({3}, 1, DType::boolean)).max, 1);
}

}  // namespace
}  // namespace glass
