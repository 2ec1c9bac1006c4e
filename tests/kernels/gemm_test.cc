// Matrix products against their definition in float64: each form, ragged sizes, batches, bf16, threads.
#include "kernels/gemm.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/kernel_testing.h"

namespace glass::kernels {
namespace {

TEST(Gemm, EqualsTheDefinition) {
  for (const int64_t m : {1, 3, 17, 50, 130}) {
    for (const int64_t n : {1, 5, 16, 33, 1100}) {
      for (const int64_t k : {1, 7, 64, 300}) {
        for (const bool ta : {false, true}) {
          for (const bool tb : {false, true}) {
            if (m * n * k > 10'000'000) continue;
            const auto a = random_values<double>(m * k, 1), b = random_values<double>(k * n, 2);
            auto want = random_values<double>(m * n, 3);
            MisalignedFloats narrow_a(a), narrow_b(b), c(want);
            const int64_t lead_a = ta ? m : k, lead_b = tb ? k : n;
            plain::gemm<double>({m, n, k}, 0.5, {a.data(), lead_a, ta}, {b.data(), lead_b, tb}, 1, want.data(), n);
            gemm({m, n, k}, 0.5f, {narrow_a.data(), lead_a, ta}, {narrow_b.data(), lead_b, tb}, 1.0f, c.data(), n);
            // A sum of k products has up to √k roundings of its own size.
            expect_close(c.values(), want, 4 * std::sqrt(static_cast<double>(k)) + 4,
                         "gemm " + std::to_string(m * n * k));
          }
        }
      }
    }
  }
}

TEST(Gemm, AnyNumberOfThreadsGivesTheSameBits) {
  const auto a = random_values<float>(600 * 512, 1), b = random_values<float>(512 * 1536, 2);
  expect_same_for_any_threads([&] {
    std::vector<float> c(600 * 1536);
    gemm({600, 1536, 512}, 1.0f, {a.data(), 512, false}, {b.data(), 1536, false}, 0.0f, c.data(), 1536);
    return c;
  });
  expect_same_for_any_threads([&] {  // a weight gradient: a long reduction
    std::vector<float> c(64 * 96);
    gemm({64, 96, 3000}, 1.0f, {a.data(), 64, true}, {b.data(), 96, false}, 0.0f, c.data(), 96);
    return c;
  });
}

TEST(Gemm, BetaZeroDoesNotReadTheOutput) {
  const std::vector<float> a{1, 2}, b{3, 4};
  std::vector<float> c{std::nanf("")};
  gemm({1, 1, 2}, 1.0f, {a.data(), 2, false}, {b.data(), 1, false}, 0.0f, c.data(), 1);
  EXPECT_EQ(c[0], 11);
}

struct Bf16Matrix {
  Bf16Matrix(int64_t count, uint64_t seed) : wide(static_cast<size_t>(count)) {
    for (const float value : random_values<float>(count, seed)) values.emplace_back(value);
    for (size_t i = 0; i < wide.size(); ++i) wide[i] = static_cast<double>(static_cast<float>(values[i]));
  }
  std::vector<bfloat16> values;
  std::vector<double> wide;
};

TEST(Bf16Gemm, EqualsTheDefinitionOfTheRoundedOperands) {
  for (const int64_t m : {1, 3, 17, 100}) {
    for (const int64_t n : {1, 5, 33, 260}) {
      for (const int64_t k : {0, 1, 7, 64, 301}) {
        for (const bool ta : {false, true}) {
          for (const bool tb : {false, true}) {
            for (const float beta : {0.0f, 1.0f}) {
              const Bf16Matrix a(m * k, 1), b(k * n, 2);
              std::vector<double> want = random_values<double>(m * n, 3);
              std::vector<float> c = narrowed(want);
              const int64_t lead_a = std::max<int64_t>(1, ta ? m : k), lead_b = std::max<int64_t>(1, tb ? k : n);
              plain::gemm<double>({m, n, k}, 1, {a.wide.data(), lead_a, ta}, {b.wide.data(), lead_b, tb},
                                  static_cast<double>(beta), want.data(), n);
              gemm({m, n, k}, {a.values.data(), lead_a, ta}, {b.values.data(), lead_b, tb}, beta, c.data(), n);
              // The products are exact in float32: what is left is a sum of k numbers.
              expect_close(c, want, 4 * std::sqrt(static_cast<double>(k)) + 4,
                           "bf16 gemm " + std::to_string(m * n * k));
            }
          }
        }
      }
    }
  }
}

TEST(Bf16Gemm, BetaZeroDoesNotReadTheOutput) {
  const std::vector<bfloat16> a{bfloat16(1), bfloat16(2)}, b{bfloat16(3), bfloat16(4)};
  std::vector<float> c{std::nanf("")};
  gemm({1, 1, 2}, {a.data(), 2, false}, {b.data(), 1, false}, 0.0f, c.data(), 1);
  EXPECT_EQ(c[0], 11);
}

TEST(Bf16Gemm, AnyNumberOfThreadsGivesTheSameBits) {
  const Bf16Matrix a(600 * 512, 1), b(512 * 1100, 2);
  expect_same_for_any_threads([&] {
    std::vector<float> c(600 * 1100);
    gemm({600, 1100, 512}, {a.values.data(), 512, false}, {b.values.data(), 512, true}, 0, c.data(), 1100);
    return c;
  });
  expect_same_for_any_threads([&] {  // a weight gradient: a long reduction
    std::vector<float> c(64 * 96);
    gemm({64, 96, 3000}, {a.values.data(), 64, true}, {b.values.data(), 96, false}, 0, c.data(), 96);
    return c;
  });
}

TEST(Gemm, FewRowsAreCutByColumns) {  // the sizes of decoding
  for (const int64_t m : {1, 2, 48, 49, 96}) {
    const int64_t n = 2100, k = 130;
    const auto a = random_values<double>(m * k, 1), b = random_values<double>(k * n, 2);
    const auto narrow_a = narrowed(a), narrow_b = narrowed(b);
    std::vector<double> want(static_cast<size_t>(m * n));
    std::vector<float> c(want.size());
    plain::gemm<double>({m, n, k}, 1, {a.data(), k, false}, {b.data(), k, true}, 0, want.data(), n);
    gemm({m, n, k}, 1.0f, {narrow_a.data(), k, false}, {narrow_b.data(), k, true}, 0.0f, c.data(), n);
    expect_close(c, want, 4 * std::sqrt(static_cast<double>(k)), "gemm of few rows");
  }
}

TEST(Gemm, RowsMayLieApartAndWhatIsBetweenIsLeftAlone) {
  const int64_t m = 51, n = 35, k = 19, apart = 7;
  const auto a = random_values<double>(m * (k + apart), 1), b = random_values<double>(k * (n + apart), 2);
  const auto narrow_a = narrowed(a), narrow_b = narrowed(b);
  std::vector<double> want(static_cast<size_t>(m * (n + apart)), 42.0);
  std::vector<float> c(want.size(), 42.0f);
  plain::gemm<double>({m, n, k}, 1, {a.data(), k + apart, false}, {b.data(), n + apart, false}, 0, want.data(),
                      n + apart);
  gemm({m, n, k}, 1.0f, {narrow_a.data(), k + apart, false}, {narrow_b.data(), n + apart, false}, 0.0f, c.data(),
       n + apart);
  expect_close(c, want, 4 * std::sqrt(static_cast<double>(k)), "gemm of rows apart");
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = n; j < n + apart; ++j) EXPECT_EQ(c[static_cast<size_t>(i * (n + apart) + j)], 42.0f);
  }
}

TEST(Gemm, AnEmptyReductionGivesBetaTimesTheOutput) {
  std::vector<float> c{3, 4};
  gemm({1, 2, 0}, 1.0f, {nullptr, 1, false}, {nullptr, 2, false}, 0.5f, c.data(), 2);
  EXPECT_EQ(c, (std::vector<float>{1.5f, 2}));
  gemm({1, 2, 0}, 1.0f, {nullptr, 1, false}, {nullptr, 2, false}, 0.0f, c.data(), 2);
  EXPECT_EQ(c, (std::vector<float>{0, 0}));
}

TEST(Gemm, NanReachesItsRowOnly) {
  auto a = random_values<float>(20 * 8, 1);
  const auto b = random_values<float>(8 * 6, 2);
  a[5 * 8 + 3] = std::nanf("");
  std::vector<float> c(20 * 6);
  gemm({20, 6, 8}, 1.0f, {a.data(), 8, false}, {b.data(), 6, false}, 0.0f, c.data(), 6);
  for (size_t i = 0; i < c.size(); ++i) EXPECT_EQ(std::isnan(c[i]), i / 6 == 5) << i;
}

class BatchedGemm : public testing::TestWithParam<GemmSizes> {};

// Offsets as those of heads in [B,T,H,K]: interleaved, one operand repeated, the output in another order.
TEST_P(BatchedGemm, EqualsOneProductForEach) {
  const GemmSizes s = GetParam();
  const int64_t batch = 5;
  const auto a = random_values<float>(batch * s.m * s.k, 1), b = random_values<float>(2 * s.n * s.k, 2);
  std::vector<int64_t> from_a, from_b, to_c;
  for (int64_t i = 0; i < batch; ++i) {
    from_a.push_back(i * s.k);  // rows batch·k apart
    from_b.push_back(i % 2 * s.n * s.k);
    to_c.push_back((batch - 1 - i) * s.m * s.n);
  }
  const Matrix<float> left{a.data(), batch * s.k, false}, right{b.data(), s.k, true};
  std::vector<float> c(static_cast<size_t>(batch * s.m * s.n)), one(c.size());
  gemm_batched<float>(batch, {from_a.data(), from_b.data(), to_c.data()}, s, 0.5f, left, right, 0.0f, c.data(), s.n);
  for (size_t i = 0; i < static_cast<size_t>(batch); ++i) {
    plain::gemm<float>(s, 0.5f, {a.data() + from_a[i], batch * s.k, false}, {b.data() + from_b[i], s.k, true}, 0.0f,
                       one.data() + to_c[i], s.n);
  }
  expect_close(c, widened(one), 4 * std::sqrt(static_cast<double>(s.k)) + 4, "batched gemm");
}

INSTANTIATE_TEST_SUITE_P(Sizes, BatchedGemm,
                         testing::Values(GemmSizes{1, 1, 1}, GemmSizes{12, 12, 32}, GemmSizes{25, 32, 25},
                                         GemmSizes{3, 7, 5}, GemmSizes{260, 260, 250}));  // the last one tile by tile

TEST(BatchedGemm, AnyNumberOfThreadsGivesTheSameBits) {
  const int64_t batch = 64, size = 40;
  const auto a = random_values<float>(batch * size * size, 1), b = random_values<float>(batch * size * size, 2);
  std::vector<int64_t> offsets;
  for (int64_t i = 0; i < batch; ++i) offsets.push_back(i * size * size);
  expect_same_for_any_threads([&] {
    std::vector<float> c(a.size());
    gemm_batched<float>(batch, {offsets.data(), offsets.data(), offsets.data()}, {size, size, size}, 1.0f,
                        {a.data(), size, false}, {b.data(), size, true}, 0.0f, c.data(), size);
    return c;
  });
}

}  // namespace
}  // namespace glass::kernels
