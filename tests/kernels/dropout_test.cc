// Dropout draws what its definition draws, for every place, whatever the layout and the instruction set.
#include "kernels/dropout.h"

#include <gtest/gtest.h>

#include "kernels/kernel_testing.h"

namespace glass::kernels {
namespace {

constexpr uint64_t key = 0x123456789abcdef0;
constexpr double rate = 0.375;  // scale and threshold are exact

TEST(Dropout, DrawsWhatTheDefinitionDraws) {
  for (const int64_t n : ragged_sizes) {
    for (const int64_t rows : {1, 2, 3, 7, 40}) {
      const DropoutPlace place{key, 11, {2, 3, rows, n}};
      const auto x = random_values<double>(6 * rows * n, 1);
      std::vector<double> want(x.size()), wide(x.size());
      for (uint32_t i = 0; i < 6; ++i) {
        plain::dropout_rows(&x[i * static_cast<size_t>(rows * n)], rows, n, key, {11 + i / 3, i % 3, 0}, rate,
                            &want[i * static_cast<size_t>(rows * n)]);
      }
      MisalignedFloats in(x), out(static_cast<int64_t>(x.size()));
      dropout(in.data(), place, rate, out.data());
      dropout(x.data(), place, rate, wide.data());
      EXPECT_EQ(wide, want) << rows << " rows of " << n;
      const auto got = out.values();
      for (size_t i = 0; i < want.size(); ++i) {
        ASSERT_FLOAT_EQ(got[i], static_cast<float>(want[i])) << rows << " rows of " << n << ", at " << i;
        ASSERT_EQ(got[i] == 0, want[i] == 0);
      }
    }
  }
}

// A batch cut into micro-batches drops the same elements.
TEST(Dropout, IsKeyedByTheExampleNotByItsPlaceInTheBatch) {
  const int64_t size = 3 * 5 * 19;
  const auto x = random_values<float>(4 * size, 1);
  std::vector<float> whole(x.size()), parts(x.size());
  dropout(x.data(), {key, 100, {4, 3, 5, 19}}, rate, whole.data());
  for (int64_t example = 0; example < 4; ++example) {
    dropout(x.data() + example * size, {key, 100 + static_cast<uint64_t>(example), {1, 3, 5, 19}}, rate,
            parts.data() + example * size);
  }
  EXPECT_EQ(whole, parts);
}

// Padding longer rows changes nothing in front of it.
TEST(Dropout, LongerRowsDropTheSameInTheirFront) {
  const std::vector<float> ones(3 * 70, 1);
  std::vector<float> narrow(3 * 13), wide(ones.size());
  dropout(ones.data(), {key, 0, {1, 1, 3, 13}}, rate, narrow.data());
  dropout(ones.data(), {key, 0, {1, 1, 3, 70}}, rate, wide.data());
  for (size_t i = 0; i < narrow.size(); ++i) EXPECT_EQ(narrow[i], wide[i / 13 * 70 + i % 13]);
}

TEST(Dropout, OtherKeysPlacesAndExamplesDrawOtherNumbers) {
  const std::vector<float> ones(256, 1);
  auto drawn = [&](const DropoutPlace& place) {
    std::vector<float> y(256);
    dropout(ones.data(), place, rate, y.data());
    return y;
  };
  const auto base = drawn({key, 0, {1, 1, 1, 256}});
  EXPECT_NE(base, drawn({key + 1, 0, {1, 1, 1, 256}}));
  EXPECT_NE(base, drawn({key + (uint64_t{1} << 32), 0, {1, 1, 1, 256}}));
  EXPECT_NE(base, drawn({key, 1, {1, 1, 1, 256}}));
  const std::vector<float> many(8 * 256, 1);
  std::vector<float> y(many.size());
  dropout(many.data(), {key, 0, {2, 2, 2, 256}}, rate, y.data());
  for (size_t a = 0; a < 8; ++a) {
    for (size_t b = 0; b < a; ++b) {
      EXPECT_FALSE(std::equal(&y[a * 256], &y[a * 256] + 256, &y[b * 256])) << "rows " << a << " and " << b;
    }
  }
}

TEST(Dropout, KeepsTheShareItShouldAndTheExpectation) {
  const int64_t count = 400'000;
  const std::vector<float> ones(count, 1);
  std::vector<float> y(ones.size());
  dropout(ones.data(), {key, 0, {4, 100, 10, 100}}, 0.1, y.data());
  double kept = 0, sum = 0;
  for (const float value : y) {
    kept += value != 0;
    sum += static_cast<double>(value);
  }
  // Deviation √(0.09/400000) = 0.00047; five of it.
  EXPECT_NEAR(kept / count, 0.9, 0.0024);
  EXPECT_NEAR(sum / count, 1, 0.0027);
}

TEST(Dropout, RowsOfNoElementsAreNothingToDo) { dropout<float>(nullptr, {1, 0, {2, 1, 3, 0}}, 0.1, nullptr); }

TEST(Dropout, RateZeroChangesNothing) {
  const auto x = random_values<float>(99, 1);
  std::vector<float> y(x.size());
  dropout(x.data(), {key, 0, {1, 1, 3, 33}}, 0, y.data());
  EXPECT_EQ(x, y);
}

TEST(Dropout, AnyNumberOfThreadsGivesTheSameBits) {
  for (const int64_t n : {13, 300}) {
    const auto x = random_values<float>(20 * 8 * 30 * n, 1);
    expect_same_for_any_threads([&] {
      std::vector<float> y(x.size());
      dropout(x.data(), {key, 0, {20, 8, 30, n}}, rate, y.data());
      return y;
    });
  }
}

}  // namespace
}  // namespace glass::kernels
