// Weights of eight bits times inputs rounded to eight: against the plain definition, and nothing of a row's neighbours.
#include "kernels/int8_dot.h"

#include <gtest/gtest.h>

#include "glassformer/base/isa.h"
#include "kernels/int8_product.h"
#include "kernels/kernel_testing.h"

namespace glass::kernels {
namespace {

class Int8Dot : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_int8_products()) GTEST_SKIP() << "no products of bytes";
  }
};

Int8Panels panels_of(const std::vector<float>& weights, int64_t rows, int64_t columns) {
  std::vector<int8_t> bytes(weights.size());
  std::vector<float> scales(static_cast<size_t>(rows));
  quantize_rows(weights.data(), rows, columns, bytes.data(), scales.data());
  return {bytes.data(), scales.data(), rows, columns};
}

TEST_F(Int8Dot, PanelsHoldTheBytes) {
  std::vector<int8_t> bytes;
  for (int i = 0; i < 70 * 9; ++i) bytes.push_back(static_cast<int8_t>(i * 37 % 255 - 127));
  const std::vector<float> scales(70, 1);
  const Int8Panels panels(bytes.data(), scales.data(), 70, 9);
  for (int64_t i = 0; i < 70; ++i) {
    for (int64_t j = 0; j < 9; ++j) ASSERT_EQ(panels.at(i, j), bytes[static_cast<size_t>(i * 9 + j)]);
  }
}

TEST_F(Int8Dot, EqualsItsDefinition) {
  for (const int64_t columns : ragged_sizes) {
    for (const int64_t rows : {1, 15, 16, 17, 63, 64, 65, 200}) {
      const auto weights = random_values<float>(rows * columns, 1), bias = random_values<float>(rows, 2);
      const Int8Panels w = panels_of(weights, rows, columns);
      for (const int64_t m : {1, 2, 3, 5, 6, 7, 13}) {
        const auto x = random_values<double>(m * columns, 3);
        MisalignedFloats in(x);
        std::vector<float> got(static_cast<size_t>(m * rows)), want(got.size());
        for (const float* addend : {static_cast<const float*>(nullptr), bias.data()}) {
          int8_dot(in.data(), m, w, addend, got.data());
          plain::int8_dot(in.data(), m, w, addend, want.data());
          for (size_t i = 0; i < got.size(); ++i) {
            // The sums are exact; what is left are two products and an addition.
            ASSERT_NEAR(got[i], want[i], 4e-7 * (2 + std::abs(want[i])))
                << m << " rows, weights [" << rows << "," << columns << "], at " << i;
          }
        }
      }
    }
  }
}

TEST_F(Int8Dot, TheLargestBytesDoNotOverflow) {
  const int64_t columns = 4096;
  const std::vector<float> ones(static_cast<size_t>(columns), 1), minus(static_cast<size_t>(columns), -1);
  float y = 0;
  int8_dot(ones.data(), 1, panels_of(ones, 1, columns), nullptr, &y);
  EXPECT_FLOAT_EQ(y, 4096);
  int8_dot(minus.data(), 1, panels_of(ones, 1, columns), nullptr, &y);
  EXPECT_FLOAT_EQ(y, -4096);
}

TEST_F(Int8Dot, ARowIsTheSameInEveryBatch) {
  const auto weights = random_values<float>(100 * 130, 1), x = random_values<float>(29 * 130, 2);
  const Int8Panels w = panels_of(weights, 100, 130);
  std::vector<float> all(29 * 100);
  int8_dot(x.data(), 29, w, nullptr, all.data());
  for (int64_t r = 0; r < 29; ++r) {
    std::vector<float> alone(100);
    int8_dot(x.data() + r * 130, 1, w, nullptr, alone.data());
    EXPECT_TRUE(std::equal(alone.begin(), alone.end(), all.begin() + r * 100)) << r;
  }
}

TEST_F(Int8Dot, WhatIsNotFiniteStaysInItsRow) {
  const auto weights = random_values<float>(20 * 33, 1);
  for (const float bad : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
    std::vector<float> x(3 * 33, 0.5f), y(3 * 20);
    x[33 + 7] = bad;
    int8_dot(x.data(), 3, panels_of(weights, 20, 33), nullptr, y.data());
    for (size_t i = 0; i < y.size(); ++i) EXPECT_EQ(std::isnan(y[i]), i / 20 == 1) << i;
  }
}

TEST_F(Int8Dot, ARowOfZerosGivesTheBias) {
  const auto weights = random_values<float>(20 * 33, 1), bias = random_values<float>(20, 2);
  const std::vector<float> x(33, 0);
  std::vector<float> y(20);
  int8_dot(x.data(), 1, panels_of(weights, 20, 33), bias.data(), y.data());
  EXPECT_EQ(y, bias);
}

TEST_F(Int8Dot, AnyNumberOfThreadsGivesTheSameBits) {
  const auto weights = random_values<float>(1000 * 130, 1), x = random_values<float>(500 * 130, 2);
  const Int8Panels w = panels_of(weights, 1000, 130);
  expect_same_for_any_threads([&] {
    std::vector<float> y(500 * 1000);
    int8_dot(x.data(), 500, w, nullptr, y.data());
    return y;
  });
}

}  // namespace
}  // namespace glass::kernels
