// Softmax and log-softmax: masks of every stride, infinities and NaN, accuracy of single elements, threads.
#include "kernels/softmax.h"

#include <gtest/gtest.h>

#include <limits>
#include <memory>

#include "kernels/kernel_testing.h"

namespace glass::kernels {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr int64_t rows = 6;  // as axes [1,2,3]

struct Mask {
  explicit Mask(int64_t size, uint64_t seed) : keep(std::make_unique<bool[]>(static_cast<size_t>(size))) {
    Random random(seed);
    for (int64_t i = 0; i < size; ++i) keep[static_cast<size_t>(i)] = random.uniform() < 0.6f;
  }
  std::unique_ptr<bool[]> keep;
};

// For a row of n scores: [B,1,1,S] padding, [1,1,T,S] causal, a full mask, one column for all, every second column.
std::vector<KeepRows> masks(const bool* data, int64_t n) {
  return {{nullptr, {1, 1, 1}, {0, 0, 0}, 1}, {data, {1, 2, 3}, {0, n, 0}, 1},
          {data, {1, 2, 3}, {0, 0, n}, 1},    {data, {1, 2, 3}, {0, 3 * n, n}, 1},
          {data, {1, 2, 3}, {0, 3, 1}, 0},    {data, {1, 2, 3}, {0, 6 * n, 2 * n}, 2}};
}

void plain_softmax(const std::vector<double>& x, int64_t n, const KeepRows& keep, std::vector<double>& y) {
  for (int64_t r = 0; r < rows; ++r) plain::softmax_row(&x[r * n], n, keep.row(r), keep.column_stride, &y[r * n]);
}

TEST(Softmax, EqualsTheDefinitionUnderEveryMask) {
  for (const int64_t n : ragged_sizes) {
    const Mask mask(12 * n, 7);
    for (const KeepRows& keep : masks(mask.keep.get(), n)) {
      const std::vector<double> x = random_values<double>(rows * n, 1);
      std::vector<double> want(x.size());
      plain_softmax(x, n, keep, want);
      MisalignedFloats in(x), out(rows * n);
      softmax(in.data(), rows, n, keep, out.data());
      expect_close(out.values(), want, 8, "softmax of " + std::to_string(n));  // exp, its sum and a division
      for (size_t i = 0; i < want.size(); ++i) EXPECT_EQ(out.values()[i] == 0, want[i] == 0) << "masked: exactly 0";
    }
  }
}

TEST(Softmax, MayBeDoneInPlace) {
  const Mask mask(12 * 35, 7);
  for (const KeepRows& keep : masks(mask.keep.get(), 35)) {
    const auto x = random_values<float>(rows * 35, 1);
    std::vector<float> y(x.size()), z = x;
    softmax(x.data(), rows, 35, keep, y.data());
    softmax(z.data(), rows, 35, keep, z.data());
    EXPECT_EQ(y, z);
  }
}

TEST(Softmax, LargeScoresNeitherOverflowNorVanish) {
  for (const int64_t n : {3, 16, 37}) {
    std::vector<float> x(static_cast<size_t>(n), -3e38f), y(x.size());
    x[0] = 3e38f;
    x[1] = 3e38f;
    softmax(x.data(), 1, n, {}, y.data());
    EXPECT_EQ(y[0], 0.5f);
    EXPECT_EQ(y[1], 0.5f);
    for (size_t j = 2; j < y.size(); ++j) EXPECT_EQ(y[j], 0);
  }
}

// The same for both number types, which are written apart.
template <class T>
class SpecialScores : public testing::Test {};
using NumberTypes = testing::Types<float, double>;
TYPED_TEST_SUITE(SpecialScores, NumberTypes);

TYPED_TEST(SpecialScores, OnlyMinusInfinityGivesZeros) {
  for (const int64_t n : {1, 5, 16, 35}) {
    std::vector<TypeParam> x(static_cast<size_t>(n), -infinity), y(x.size(), 9);
    softmax(x.data(), 1, n, {}, y.data());
    for (const TypeParam value : y) EXPECT_EQ(value, 0);
  }
}

TYPED_TEST(SpecialScores, NanAndInfinityMakeKeptEntriesNanAndMaskedOnesStayZero) {
  for (const int64_t n : {2, 5, 16, 17, 35}) {
    for (const float special : {std::nanf(""), infinity}) {
      for (int64_t place = 0; place < n; ++place) {
        std::vector<TypeParam> x(static_cast<size_t>(n), 1), y(x.size(), 9);
        x[static_cast<size_t>(place)] = special;
        const auto keep = std::make_unique<bool[]>(static_cast<size_t>(n));
        for (int64_t j = 0; j < n; ++j) keep[static_cast<size_t>(j)] = j % 2 == place % 2;
        softmax(x.data(), 1, n, {keep.get(), {1, 1, 1}, {0, 0, 0}, 1}, y.data());
        for (size_t j = 0; j < y.size(); ++j) {
          if (keep[j]) {
            EXPECT_TRUE(std::isnan(y[j])) << n << ", " << place << ", " << j;
          } else {
            EXPECT_EQ(y[j], 0);
          }
        }
      }
    }
  }
}

TYPED_TEST(SpecialScores, LogSumExpOfInfinitiesIsTheLargest) {
  for (const int64_t n : {1, 5, 16, 35}) {
    std::vector<TypeParam> x(static_cast<size_t>(n), -infinity);
    EXPECT_EQ(log_sum_exp(x.data(), n), -infinity);
    x[static_cast<size_t>(n / 2)] = infinity;
    EXPECT_EQ(log_sum_exp(x.data(), n), infinity);
    x[0] = std::nanf("");
    EXPECT_TRUE(std::isnan(log_sum_exp(x.data(), n)));
  }
}

TEST(LogSoftmax, EqualsTheDefinition) {
  for (const int64_t n : ragged_sizes) {
    const std::vector<double> x = random_values<double>(rows * n, 1), dy = random_values<double>(rows * n, 2);
    std::vector<double> want(x.size()), want_dx(x.size());
    log_softmax(x.data(), rows, n, want.data());
    log_softmax_backward(dy.data(), want.data(), rows, n, want_dx.data());
    MisalignedFloats in(x), out(rows * n), upstream(dy), dx(rows * n);
    log_softmax(in.data(), rows, n, out.data());
    log_softmax_backward(upstream.data(), out.data(), rows, n, dx.data());
    if (n == 1) continue;  // 0, but for rounding
    expect_close(out.values(), want, 8, "log_softmax of " + std::to_string(n));
    // Σ dy carries up to √n roundings more than what is subtracted from.
    expect_close(dx.values(), want_dx, 16 + std::sqrt(static_cast<double>(n)), "its backward of " + std::to_string(n));
  }
}

TEST(LogSoftmax, InDoubleItIsTheLogarithmOfSoftmax) {
  const auto x = random_values<double>(rows * 33, 1);
  std::vector<double> y(x.size()), log_y(x.size());
  softmax(x.data(), rows, 33, {}, y.data());
  log_softmax(x.data(), rows, 33, log_y.data());
  for (size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(std::log(y[i]), log_y[i], 1e-14);
}

TEST(Softmax, AnyNumberOfThreadsGivesTheSameBits) {
  const int64_t many = 3000, n = 37;
  const auto x = random_values<float>(many * n, 1), dy = random_values<float>(many * n, 2);
  expect_same_for_any_threads([&] {
    std::vector<float> y(x.size()), dx(x.size());
    softmax(x.data(), many, n, {}, y.data());
    softmax_backward(dy.data(), y.data(), many, n, dx.data());
    return dx;
  });
}

}  // namespace
}  // namespace glass::kernels
