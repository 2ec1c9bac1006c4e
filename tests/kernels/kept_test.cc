// What is let through, as bits: relu's and dropout's bits are those of their definitions, and read back the same.
#include "kernels/kept.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/dropout.h"
#include "kernels/kernel_testing.h"

namespace glass::kernels {
namespace {

using Words = std::vector<uint64_t>;

Words words_for(int64_t rows, int64_t n) { return Words(static_cast<size_t>(rows * kept_words(n)), ~uint64_t{0}); }

TEST(Kept, ReluAndItsBitsEqualTheDefinition) {
  for (const int64_t n : ragged_sizes) {
    for (const int64_t rows : {1, 3, 17}) {
      const auto x = random_values<double>(rows * n, 1);
      std::vector<double> want(x.size()), wide(x.size());
      Words want_bits = words_for(rows, n), bits = want_bits, wide_bits = want_bits;
      MisalignedFloats in(x), out(rows * n);
      plain::relu(x.data(), rows, n, want.data(), want_bits.data());
      relu(x.data(), rows, n, wide.data(), wide_bits.data());
      relu(in.data(), rows, n, out.data(), bits.data());
      EXPECT_EQ(wide, want);
      EXPECT_EQ(wide_bits, want_bits);
      EXPECT_EQ(bits, want_bits) << rows << " rows of " << n;
      expect_close(out.values(), want, 0, "relu");
    }
  }
}

TEST(Kept, ReluKeepsNanAndLetsNoGradientThroughIt) {
  const float nan = std::nanf("");
  for (const size_t place : {size_t{3}, size_t{18}}) {  // in a vector and behind the last
    std::vector<float> x(19, 1), y(19);
    Words bits = words_for(1, 19);
    x[place] = nan;
    relu(x.data(), 1, 19, y.data(), bits.data());
    EXPECT_TRUE(std::isnan(y[place]));
    EXPECT_EQ(bits[0], ((uint64_t{1} << 19) - 1) & ~(uint64_t{1} << place));
  }
}

TEST(Kept, ReluTakesNoBitsToo) {
  const auto x = random_values<float>(3 * 70, 1);
  std::vector<float> with(x.size()), without(x.size());
  Words bits = words_for(3, 70);
  relu(x.data(), 3, 70, with.data(), bits.data());
  relu<float>(x.data(), 3, 70, without.data(), nullptr);
  EXPECT_EQ(with, without);
}

TEST(Kept, DropoutsBitsAreWhatItKept) {
  for (const int64_t n : ragged_sizes) {
    const int64_t rows = 5;
    const std::vector<float> ones(static_cast<size_t>(2 * rows * n), 1);
    std::vector<float> y(ones.size());
    Words bits = words_for(2 * rows, n);
    dropout(ones.data(), {77, 3, {2, 1, rows, n}}, 0.375, y.data(), bits.data());
    for (int64_t i = 0; i < 2 * rows * n; ++i) {
      const uint64_t word = bits[static_cast<size_t>(i / n * kept_words(n) + i % n / 64)];
      ASSERT_EQ(word >> (i % n % 64) & 1, y[static_cast<size_t>(i)] != 0) << "row of " << n << ", at " << i;
    }
  }
}

// As the backward pass uses them: of dy = x dropout's gradient is its result.
TEST(Kept, WhereKeptGivesDropoutsResultAgain) {
  for (const int64_t n : ragged_sizes) {
    const int64_t rows = 6;
    const auto x = random_values<float>(rows * n, 1);
    std::vector<float> y(x.size()), again(x.size());
    Words bits = words_for(rows, n);
    dropout(x.data(), {77, 3, {2, 1, rows / 2, n}}, 0.375, y.data(), bits.data());
    where_kept(x.data(), bits.data(), rows, n, 1 / (1 - 0.375), again.data());
    EXPECT_EQ(again, y) << "rows of " << n;
  }
}

TEST(Kept, WhereKeptEqualsItsDefinition) {
  for (const int64_t n : ragged_sizes) {
    const int64_t rows = 7;
    const auto x = random_values<double>(rows * n, 1);
    Words bits = words_for(rows, n);
    for (size_t w = 0; w < bits.size(); ++w) bits[w] = 0x9E3779B97F4A7C15ull * (w + 1);
    std::vector<double> want(x.size()), wide(x.size());
    MisalignedFloats in(x), out(rows * n);
    plain::where_kept(x.data(), bits.data(), rows, n, 0.5, want.data());
    where_kept(x.data(), bits.data(), rows, n, 0.5, wide.data());
    where_kept(in.data(), bits.data(), rows, n, 0.5, out.data());
    EXPECT_EQ(wide, want);
    expect_close(out.values(), want, 0, "where kept");
  }
}

TEST(Kept, WhatIsNotKeptIsZeroWhateverItWas) {
  const std::vector<float> x(70, std::nanf(""));
  std::vector<float> y(70);
  const Words none{0, 0};
  where_kept(x.data(), none.data(), 1, 70, 1.0, y.data());
  EXPECT_EQ(y, std::vector<float>(70, 0));
}

TEST(Kept, AnyNumberOfThreadsGivesTheSameBits) {
  const auto x = random_values<float>(1001 * 70, 1);
  expect_same_for_any_threads([&] {
    std::vector<float> y(x.size()), dx(x.size());
    Words bits = words_for(1001, 70);
    relu(x.data(), 1001, 70, y.data(), bits.data());
    where_kept(x.data(), bits.data(), 1001, 70, 3.0, dx.data());
    dx.insert(dx.end(), y.begin(), y.end());
    return dx;
  });
}

}  // namespace
}  // namespace glass::kernels
