#include "glassformer/decode/bootstrap.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "glassformer/base/error.h"

namespace glass {
namespace {

// The mean of 0, 1, …, count - 1 as they are drawn.
double mean_of(const std::vector<size_t>& chosen) {
  return std::accumulate(chosen.begin(), chosen.end(), 0.0) / static_cast<double>(chosen.size());
}

TEST(Bootstrap, IntervalOfAMeanIsThatOfTheNormalDistribution) {
  constexpr size_t count = 400;
  const Interval interval = bootstrap_interval(count, mean_of);
  // The deviation of a mean of `count` draws from 0…count-1, and 1.96 of it to each side. Over 1000 resamples the mean
  // strays by deviation/√1000 and a 2.5 % quantile by about 0.08 deviations; the bounds are some four times that.
  const double deviation = std::sqrt((count * count - 1) / 12.0 / count);
  EXPECT_NEAR(interval.mean, (count - 1) / 2.0, 4 * deviation / std::sqrt(1000.0));
  EXPECT_NEAR(interval.half_width, 1.96 * deviation, 0.25 * deviation);
}

TEST(Bootstrap, DrawsEverySentenceOfTheWholeRange) {
  std::vector<int> drawn(7);
  int calls = 0;
  bootstrap_interval(
      drawn.size(),
      [&](const std::vector<size_t>& chosen) {
        EXPECT_EQ(chosen.size(), drawn.size());
        for (const size_t sentence : chosen) ++drawn.at(sentence);
        ++calls;
        return 0.0;
      },
      200);
  EXPECT_EQ(calls, 200);
  for (const int times : drawn) EXPECT_NEAR(times, 200, 5 * std::sqrt(200.0));  // five deviations
}

TEST(Bootstrap, SeedDecidesTheResamples) {
  const Interval first = bootstrap_interval(50, mean_of), again = bootstrap_interval(50, mean_of);
  EXPECT_EQ(first.mean, again.mean);
  EXPECT_EQ(first.half_width, again.half_width);
  EXPECT_NE(first.mean, bootstrap_interval(50, mean_of, 1000, 1).mean);
}

TEST(Bootstrap, HasNoWidthWhereThereIsNothingToVary) {
  EXPECT_EQ(bootstrap_interval(1, mean_of).half_width, 0);
  EXPECT_EQ(bootstrap_interval(0, mean_of).half_width, 0);
  EXPECT_EQ(bootstrap_interval(10, mean_of, 1).half_width, 0);
}

TEST(Bootstrap, PassesOnWhatTheScoreThrows) {
  const auto fails = [](const std::vector<size_t>&) -> double { throw ValueError("no score"); };
  EXPECT_THROW(bootstrap_interval(3, fails), ValueError);
}

}  // namespace
}  // namespace glass
