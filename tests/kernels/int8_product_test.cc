// Weights in bytes: how they are rounded, and products with them against the plain definition.
#include "kernels/int8_product.h"

#include <gtest/gtest.h>

#include <limits>

#include "kernels/kernel_testing.h"

namespace glass::kernels {
namespace {

TEST(QuantizeRows, RoundsEachRowByItsLargestWeight) {
  const std::vector<float> w{1, -0.5f, 0.003f, 0, /**/ 0, 0, 0, 0, /**/ -254, 127, 1, -1.1f};
  std::vector<int8_t> values(w.size());
  std::vector<float> scales(3);
  quantize_rows(w.data(), 3, 4, values.data(), scales.data());
  EXPECT_EQ(values, (std::vector<int8_t>{127, -64, 0, 0, /**/ 0, 0, 0, 0, /**/ -127, 64, 0, -1}));  // halves to even
  EXPECT_FLOAT_EQ(scales[0], 1 / 127.0f);
  EXPECT_EQ(scales[1], 0);
  EXPECT_FLOAT_EQ(scales[2], 2);
}

TEST(QuantizeRows, EachByteIsTheNearest) {
  for (const int64_t columns : ragged_sizes) {
    const auto w = random_values<double>(3 * columns, 5);
    MisalignedFloats in(w);
    std::vector<int8_t> values(w.size());
    std::vector<float> scales(3);
    quantize_rows(in.data(), 3, columns, values.data(), scales.data());
    for (size_t i = 0; i < w.size(); ++i) {
      const double exact = w[i] / static_cast<double>(scales[i / static_cast<size_t>(columns)]);
      EXPECT_LE(std::abs(exact), 127.0001);
      EXPECT_LE(std::abs(exact - values[i]), 0.5 + 1e-4) << columns << " " << i;
    }
  }
}

TEST(QuantizeRows, WhatIsNotFiniteShowsInTheScale) {
  for (const int64_t columns : ragged_sizes) {
    for (const float special : {std::nanf(""), std::numeric_limits<float>::infinity(), -HUGE_VALF}) {
      for (const int64_t at : {int64_t{0}, columns / 2, columns - 1}) {
        auto w = random_values<float>(2 * columns, 5);
        w[static_cast<size_t>(at)] = special;
        std::vector<int8_t> values(w.size());
        std::vector<float> scales(2);
        quantize_rows(w.data(), 2, columns, values.data(), scales.data());
        EXPECT_TRUE(std::isnan(scales[0])) << columns << " " << at;
        EXPECT_TRUE(std::isfinite(scales[1]));
      }
    }
    const std::vector<float> tiny(static_cast<size_t>(columns), 1e-40f);  // 127/1e-40 is too large
    std::vector<int8_t> values(tiny.size(), 9);
    float scale = 9;
    quantize_rows(tiny.data(), 1, columns, values.data(), &scale);
    EXPECT_EQ(values, std::vector<int8_t>(tiny.size()));
    EXPECT_LT(scale, 1e-40f);
  }
}

TEST(Int8Product, EqualsItsDefinition) {
  for (const int64_t columns : ragged_sizes) {
    for (const int64_t rows : {1, 3, 4, 5, 1030}) {
      const auto weights = random_values<float>(rows * columns, 1), bias = random_values<float>(rows, 2);
      std::vector<int8_t> values(weights.size());
      std::vector<float> scales(static_cast<size_t>(rows));
      quantize_rows(weights.data(), rows, columns, values.data(), scales.data());
      const Int8Matrix w{values.data(), scales.data(), rows, columns};
      for (const int64_t m : {1, 2, 4, 7}) {
        const auto x = random_values<double>(m * columns, 3);
        MisalignedFloats in(x);
        std::vector<float> got(static_cast<size_t>(m * rows)), want(got.size());
        for (const float* addend : {static_cast<const float*>(nullptr), bias.data()}) {
          int8_product(in.data(), m, w, addend, got.data());
          plain::int8_product(in.data(), m, w, addend, want.data());
          for (size_t i = 0; i < got.size(); ++i) {
            ASSERT_NEAR(got[i], want[i], 2e-5 * std::sqrt(static_cast<double>(columns)))
                << m << " rows, weights [" << rows << "," << columns << "], at " << i;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace glass::kernels
