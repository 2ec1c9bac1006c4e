// Copies between every two types, and between layouts.
#include "kernels/copy.h"

#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <memory>

#include "kernels/kernel_testing.h"

namespace glass::kernels {
namespace {

Layout dense(std::initializer_list<int64_t> extents) {
  Layout layout;
  for (const int64_t extent : extents) layout.extents[static_cast<size_t>(layout.rank++)] = extent;
  int64_t stride = 1;
  for (int axis = layout.rank - 1; axis >= 0; --axis) {
    layout.strides[axis] = stride;
    stride *= layout.extents[axis];
  }
  return layout;
}

Layout swapped(Layout layout, int a, int b) {
  std::swap(layout.extents[a], layout.extents[b]);
  std::swap(layout.strides[a], layout.strides[b]);
  return layout;
}

// The definition: every index in turn.
template <class T>
void plain_copy(const T* from, const Layout& from_layout, T* to, const Layout& to_layout) {
  for (int64_t i = 0; i < from_layout.count(); ++i) {
    int64_t rest = i, source = 0, target = 0;
    for (int axis = from_layout.rank - 1; axis >= 0; --axis) {
      const int64_t index = rest % from_layout.extents[axis];
      rest /= from_layout.extents[axis];
      source += index * from_layout.strides[axis];
      target += index * to_layout.strides[axis];
    }
    to[target] = from[source];
  }
}

TEST(Copy, EveryPermutationOfTwoAxesEqualsTheDefinition) {
  const auto x = random_values<float>(3 * 5 * 7 * 9 * 2, 1);
  for (int a = 0; a < 5; ++a) {
    for (int b = a; b < 5; ++b) {
      const Layout from = swapped(dense({3, 5, 7, 9, 2}), a, b);
      Layout to = dense({from.extents[0], from.extents[1], from.extents[2], from.extents[3], from.extents[4]});
      std::vector<float> want(x.size()), got(x.size());
      plain_copy(x.data(), from, want.data(), to);
      copy(x.data(), from, got.data(), to);
      EXPECT_EQ(got, want) << a << " and " << b;
      plain_copy(x.data(), to, want.data(), from);
      copy(x.data(), to, got.data(), from);  // into a strided destination
      EXPECT_EQ(got, want) << a << " and " << b;
    }
  }
}

TEST(Copy, BroadcastsAndLeavesGapsAlone) {
  const std::vector<float> row{1, 2, 3};
  std::vector<float> to(2 * 5, 9);
  copy(row.data(), Layout{2, {2, 3}, {0, 1}}, to.data(), Layout{2, {2, 3}, {5, 1}});
  EXPECT_EQ(to, (std::vector<float>{1, 2, 3, 9, 9, 1, 2, 3, 9, 9}));
  std::vector<float> one{7};
  copy(one.data(), Layout{}, to.data(), Layout{});  // of rank 0: one element
  EXPECT_EQ(to[0], 7);
  copy(one.data(), dense({0, 3}), to.data() + 3, dense({0, 3}));
  EXPECT_EQ(to[3], 9);
}

TEST(Copy, HeadsSplitAndMergeOverManyThreads) {
  const int64_t B = 20, T = 33, H = 4, K = 16;
  const auto x = random_values<float>(B * T * H * K, 1);
  const Layout by_token = swapped(dense({B, T, H, K}), 1, 2), by_head = dense({B, H, T, K});
  std::vector<float> want(x.size()), back(x.size());
  plain_copy(x.data(), by_token, want.data(), by_head);
  expect_same_for_any_threads([&] {
    std::vector<float> heads(x.size());
    copy(x.data(), by_token, heads.data(), by_head);
    EXPECT_EQ(heads, want);
    return heads;
  });
  copy(want.data(), by_head, back.data(), by_token);
  EXPECT_EQ(back, x);
}

template <class From, class To>
void expect_converts(const std::vector<From>& values, const std::vector<To>& want) {
  const auto count = static_cast<int64_t>(values.size());
  std::vector<To> out(want.size()), spread(2 * want.size());
  copy(values.data(), Layout{1, {count}, {1}}, out.data(), Layout{1, {count}, {1}});
  copy(values.data(), Layout{1, {count}, {1}}, spread.data(), Layout{1, {count}, {2}});
  for (size_t i = 0; i < want.size(); ++i) {
    EXPECT_EQ(out[i], want[i]) << i;
    EXPECT_EQ(spread[2 * i], want[i]) << i;
  }
}

TEST(Copy, ConvertsNumbers) {
  expect_converts<float, double>({1.5f, -2}, {1.5, -2});
  expect_converts<double, float>({0.1, 1e300}, {0.1f, std::numeric_limits<float>::infinity()});
  expect_converts<float, int64_t>({1.9f, -1.9f, 0}, {1, -1, 0});
  expect_converts<double, int32_t>({2e9, -0.5}, {2000000000, 0});
  expect_converts<int64_t, float>({3, -4}, {3, -4});
  expect_converts<int32_t, int64_t>({-1, 7}, {-1, 7});
}

TEST(Copy, ToBoolIsWhetherItIsNotZero) {
  const std::vector<float> values{0, -0.0f, 1e-40f, -3, std::nanf("")};
  const auto out = std::make_unique<bool[]>(values.size());
  copy(values.data(), dense({5}), out.get(), dense({5}));
  EXPECT_EQ(std::vector<bool>(out.get(), out.get() + 5), (std::vector<bool>{false, false, true, true, true}));
  std::vector<double> back(5);
  copy(out.get(), dense({5}), back.data(), dense({5}));
  EXPECT_EQ(back, (std::vector<double>{0, 0, 1, 1, 1}));
}

TEST(Copy, RoundsToBf16AsItsDefinition) {
  for (const int64_t n : ragged_sizes) {
    Random random(static_cast<uint64_t>(n));
    std::vector<float> x(static_cast<size_t>(n) + 1);
    for (float& value : x) value = std::bit_cast<float>(random.bits());  // every kind of number: NaN and infinite too
    x[1] = std::bit_cast<float>(0x3f808000u);                            // a tie
    x.back() = std::bit_cast<float>(0x7f800001u);                        // a NaN that truncation would make infinite
    std::vector<bfloat16> y(static_cast<size_t>(n));
    copy(x.data() + 1, dense({n}), y.data(), dense({n}));
    for (size_t i = 0; i < y.size(); ++i)
      EXPECT_EQ(y[i].bits, bfloat16(x[i + 1]).bits) << std::bit_cast<uint32_t>(x[i + 1]);
  }
}

TEST(Copy, Bf16IsExactInFloat) {
  std::vector<bfloat16> all(65536);
  for (size_t i = 0; i < all.size(); ++i) all[i].bits = static_cast<uint16_t>(i);
  std::vector<float> wide(all.size());
  copy(all.data(), dense({65536}), wide.data(), dense({65536}));
  std::vector<bfloat16> back(all.size());
  copy(wide.data(), dense({65536}), back.data(), dense({65536}));
  for (size_t i = 0; i < all.size(); ++i) {
    if (std::isnan(wide[i])) continue;  // any NaN will do
    EXPECT_EQ(back[i].bits, i);
  }
}

}  // namespace
}  // namespace glass::kernels
