// Sums and maxima over any axis, and sums that undo a broadcast.
#include "kernels/reduce.h"

#include <gtest/gtest.h>

#include <limits>

#include "kernels/elementwise.h"
#include "kernels/kernel_testing.h"

namespace glass::kernels {
namespace {

std::vector<double> plain_sum(const std::vector<double>& in, int64_t outer, int64_t n, int64_t inner) {
  std::vector<double> out(static_cast<size_t>(outer * inner));
  for (int64_t i = 0; i < outer * n * inner; ++i) {
    out[static_cast<size_t>(i / (n * inner) * inner + i % inner)] += in[static_cast<size_t>(i)];
  }
  return out;
}

TEST(SumAxis, EqualsTheDefinitionOverEveryAxis) {
  for (const int64_t outer : {1, 2, 7, 9, 20}) {
    for (const int64_t inner : {1, 2, 17, 260}) {
      for (const int64_t n : {0, 1, 3, 16, 33, 67, 400}) {
        const auto in = random_values<double>(outer * n * inner, 1);
        const auto want = plain_sum(in, outer, n, inner);
        MisalignedFloats narrow(in), out(outer * inner);
        std::vector<double> wide(want.size());
        sum_axis(narrow.data(), outer, n, inner, out.data());
        sum_axis(in.data(), outer, n, inner, wide.data());
        // The sum of n numbers of about 1 is about √n; n roundings of partial sums of that size.
        expect_close(out.values(), want, 4 + 8 * std::sqrt(static_cast<double>(n)), "sum_axis");
        for (size_t i = 0; i < wide.size(); ++i) EXPECT_NEAR(wide[i], want[i], 1e-12);
      }
    }
  }
}

TEST(MaxAxis, FindsTheFirstLargestAndSeesNan) {
  const float nan = std::nanf("");
  //                        rows of [2,4], maximum over the last axis
  const std::vector<float> in{1, 5, 5, 2, 3, nan, 9, nan};
  std::vector<float> out(2);
  std::vector<int64_t> index(2);
  max_axis(in.data(), 2, 4, 1, out.data(), index.data());
  EXPECT_EQ(out[0], 5);
  EXPECT_EQ(index[0], 1);
  EXPECT_TRUE(std::isnan(out[1]));
  EXPECT_EQ(index[1], 1);
}

TEST(MaxAxis, EqualsTheDefinitionOverEveryAxis) {
  for (const int64_t inner : {1, 3, 17}) {
    for (const int64_t n : {1, 2, 19}) {
      const int64_t outer = 5;
      const auto in = random_values<float>(outer * n * inner, 1);
      std::vector<float> out(static_cast<size_t>(outer * inner));
      std::vector<int64_t> index(out.size());
      max_axis(in.data(), outer, n, inner, out.data(), index.data());
      for (int64_t place = 0; place < outer * inner; ++place) {
        float largest = -std::numeric_limits<float>::infinity();
        auto at = [&](int64_t j) { return in[static_cast<size_t>((place / inner * n + j) * inner + place % inner)]; };
        for (int64_t j = 0; j < n; ++j) largest = std::max(largest, at(j));
        EXPECT_EQ(out[static_cast<size_t>(place)], largest);
        EXPECT_EQ(at(index[static_cast<size_t>(place)]), largest);
      }
    }
  }
}

TEST(SquaredNorm, IsSummedInDouble) {
  std::vector<float> x(100001, 1);
  x[0] = 4096;  // its square is 2²⁴, to which float32 could add no single 1
  const std::span<const float> whole(x), begin = whole.first(3), rest = whole.subspan(3), none;
  EXPECT_EQ(squared_norm<float>({whole}), 16777216.0 + 100000.0);
  EXPECT_EQ(squared_norm<float>({begin, none, rest}), 16777216.0 + 100000.0);
}

// Every way in which axes of [2,3,4,5] can be summed.
TEST(SumTo, UndoesEveryBroadcastOfFourAxes) {
  const int64_t extents[] = {2, 3, 4, 5};
  const auto in = random_values<double>(120, 1);
  for (unsigned kept = 0; kept < 16; ++kept) {
    Layout out_layout{4, {2, 3, 4, 5}, {}};
    int64_t out_count = 1;
    for (int axis = 3; axis >= 0; --axis) {
      if ((kept >> axis & 1u) == 0) continue;
      out_layout.strides[axis] = out_count;
      out_count *= extents[axis];
    }
    std::vector<double> want(static_cast<size_t>(out_count)), got(want.size(), 9);
    for (int64_t i = 0; i < 120; ++i) {
      const int64_t index[] = {i / 60, i / 20 % 3, i / 5 % 4, i % 5};
      int64_t place = 0;
      for (int axis = 0; axis < 4; ++axis) place += index[axis] * out_layout.strides[axis];
      want[static_cast<size_t>(place)] += in[static_cast<size_t>(i)];
    }
    sum_to(in.data(), out_layout, out_count, got.data());
    for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-12) << "kept axes " << kept;
    const std::vector<float> narrow = narrowed(in);
    std::vector<float> out(want.size());
    sum_to(narrow.data(), out_layout, out_count, out.data());
    expect_close(out, want, 64, "sum_to keeping " + std::to_string(kept));  // 120 roundings at most
  }
}

TEST(SumTo, OfNothingIsZeros) {
  std::vector<float> out(3, 9);
  sum_to<float>(nullptr, Layout{2, {0, 3}, {0, 1}}, 3, out.data());
  EXPECT_EQ(out, (std::vector<float>{0, 0, 0}));
}

TEST(SumTo, AnyNumberOfThreadsGivesTheSameBits) {
  const auto in = random_values<float>(120 * 9 * 333, 1);
  for (const Layout& layout : {Layout{2, {1080, 333}, {0, 1}}, Layout{3, {120, 9, 333}, {0, 1, 0}},
                               Layout{3, {120, 9, 333}, {333, 0, 1}}, Layout{1, {359640}, {0}}}) {
    int64_t out_count = 1;
    for (int axis = 0; axis < layout.rank; ++axis) out_count *= layout.strides[axis] == 0 ? 1 : layout.extents[axis];
    expect_same_for_any_threads([&] {
      std::vector<float> out(static_cast<size_t>(out_count));
      sum_to(in.data(), layout, out_count, out.data());
      return out;
    });
  }
}

}  // namespace
}  // namespace glass::kernels
