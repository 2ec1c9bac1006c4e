// Arithmetic of arrays that broadcast.
#include "kernels/elementwise.h"

#include <gtest/gtest.h>

#include <limits>
#include <memory>

#include "kernels/kernel_testing.h"

namespace glass::kernels {
namespace {

double apply(Binary op, double a, double b) {
  switch (op) {
    case Binary::add:
      return a + b;
    case Binary::sub:
      return a - b;
    case Binary::mul:
      return a * b;
    case Binary::div:
      return a / b;
  }
  return 0;
}

// A layout of [2,3,n] for each way in which an operand can broadcast, transposed and sliced operands too.
std::vector<Layout> layouts(int64_t n) {
  return {{3, {2, 3, n}, {3 * n, n, 1}}, {3, {2, 3, n}, {0, 0, 1}},        {3, {2, 3, n}, {0, n, 1}},
          {3, {2, 3, n}, {n, 0, 1}},     {3, {2, 3, n}, {3, 1, 0}},        {3, {2, 3, n}, {0, 0, 0}},
          {3, {2, 3, n}, {1, 2, 6}},     {3, {2, 3, n}, {6 * n, 2 * n, 2}}};
}

int64_t place_of(const Layout& layout, int64_t i) {
  const int64_t n = layout.extents[2];
  return i / (3 * n) * layout.strides[0] + i / n % 3 * layout.strides[1] + i % n * layout.strides[2];
}

TEST(Binary, EveryBroadcastEqualsTheDefinition) {
  for (const Binary op : {Binary::add, Binary::sub, Binary::mul, Binary::div}) {
    for (const int64_t n : ragged_sizes) {
      const auto a = random_values<double>(12 * n, 1);
      auto b = random_values<double>(12 * n, 2);
      for (double& value : b) value += std::copysign(0.5, value);  // divisors away from 0
      for (const Layout& a_layout : layouts(n)) {
        for (const Layout& b_layout : layouts(n)) {
          std::vector<double> want;
          for (int64_t i = 0; i < 6 * n; ++i) {
            want.push_back(apply(op, a[static_cast<size_t>(place_of(a_layout, i))],
                                 b[static_cast<size_t>(place_of(b_layout, i))]));
          }
          MisalignedFloats x(a), y(b), out(6 * n);
          binary(op, x.data(), a_layout, y.data(), b_layout, out.data());
          // One rounding of the result and one of each operand narrowed, of numbers up to three times its size.
          expect_close(out.values(), want, 4, "binary");
          std::vector<double> wide(want.size());
          binary(op, a.data(), a_layout, b.data(), b_layout, wide.data());
          EXPECT_EQ(wide, want);
        }
      }
    }
  }
}

TEST(Binary, MayWriteOverItsFirstOperand) {
  auto a = random_values<float>(6 * 33, 1);
  const auto b = random_values<float>(33, 2), before = a;
  binary(Binary::add, a.data(), layouts(33)[0], b.data(), layouts(33)[1], a.data());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i], before[i] + b[i % 33]);
}

TEST(Binary, EightAxes) {
  const Layout a{8, {2, 1, 2, 1, 2, 1, 2, 3}, {24, 24, 12, 12, 6, 6, 3, 1}},
      b{8, {2, 1, 2, 1, 2, 1, 2, 3}, {0, 0, 3, 0, 0, 0, 0, 1}};
  const auto x = random_values<float>(48, 1), y = random_values<float>(6, 2);
  std::vector<float> out(48);
  binary(Binary::mul, x.data(), a, y.data(), b, out.data());
  for (size_t i = 0; i < 48; ++i) EXPECT_EQ(out[i], x[i] * y[i / 12 % 2 * 3 + i % 3]);
}

TEST(Accumulate, AddsInPlace) {
  for (const int64_t n : ragged_sizes) {
    const auto x = random_values<double>(n, 1), y = random_values<double>(n, 2);
    MisalignedFloats from(x), to(y);
    accumulate(from.data(), n, 0.5f, to.data());
    for (size_t i = 0; i < x.size(); ++i)
      EXPECT_EQ(to.values()[i], static_cast<float>(x[i]) / 2 + static_cast<float>(y[i]));
  }
}

TEST(ScaleAdd, MultipliesThenAdds) {
  for (const int64_t n : ragged_sizes) {
    const auto x = random_values<double>(n, 1);
    MisalignedFloats in(x);
    scale_add(in.data(), n, 0.5f, 0.25f, in.data());  // exact but for the last digit, and in place
    for (size_t i = 0; i < x.size(); ++i) EXPECT_FLOAT_EQ(in.values()[i], static_cast<float>(x[i] * 0.5 + 0.25));
  }
}

TEST(MaskedFill, KeepsOrFillsUnderEveryBroadcast) {
  for (const int64_t n : {1, 4, 17}) {
    const auto x = random_values<float>(6 * n, 1);
    const auto keep = std::make_unique<bool[]>(static_cast<size_t>(12 * n));
    for (int64_t i = 0; i < 12 * n; ++i) keep[static_cast<size_t>(i)] = i % 3 != 1;
    for (const Layout& layout : layouts(n)) {
      std::vector<float> out(x.size());
      masked_fill(x.data(), keep.get(), layout, -7.0f, out.data());
      for (size_t i = 0; i < out.size(); ++i) {
        EXPECT_EQ(out[i], keep[static_cast<size_t>(place_of(layout, static_cast<int64_t>(i)))] ? x[i] : -7.0f);
      }
    }
  }
}

// The same for both number types.
template <class T>
class NonFinite : public testing::Test {};
using NumberTypes = testing::Types<float, double>;
TYPED_TEST_SUITE(NonFinite, NumberTypes);

TYPED_TEST(NonFinite, IsFoundWhereverItIs) {
  for (const int64_t n : {1, 15, 16, 17, 40, 50001}) {
    std::vector<TypeParam> x(static_cast<size_t>(n), std::numeric_limits<TypeParam>::max());
    EXPECT_FALSE(any_non_finite(x.data(), n));
    for (const float special :
         {std::nanf(""), std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()}) {
      for (const size_t place : {size_t{0}, x.size() / 2, x.size() - 1}) {
        x[place] = special;
        EXPECT_TRUE(any_non_finite(x.data(), n)) << n << " at " << place;
        x[place] = -1;
      }
    }
  }
  EXPECT_FALSE(any_non_finite(static_cast<TypeParam*>(nullptr), 0));
}

TEST(Elementwise, AnyNumberOfThreadsGivesTheSameBits) {
  const auto a = random_values<float>(300 * 257, 1), b = random_values<float>(257, 2);
  expect_same_for_any_threads([&] {
    std::vector<float> out(a.size());
    binary(Binary::div, a.data(), Layout{2, {300, 257}, {257, 1}}, b.data(), Layout{2, {300, 257}, {0, 1}}, out.data());
    accumulate(a.data(), 300 * 257, 0.3f, out.data());
    scale_add(out.data(), 300 * 257, 0.3f, 0.1f, out.data());
    return out;
  });
}

}  // namespace
}  // namespace glass::kernels
