#include "kernels/int8_product.h"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/int8_product.cc"
#include <hwy/foreach_target.h>
// Highway includes this file once for each target, so what follows must come after.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace glass::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Bytes of a row, and what one of them stands for: NaN, and zero bytes, if a number is not finite. Zero bytes too where
// all are so small that 127/largest is not a number.
float quantize_row_lanes(const float* row, int64_t n, int8_t* to) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<int8_t, decltype(d)> bytes;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  auto most = hn::Zero(d), zeros = hn::Zero(d);
  int64_t j = 0;
  for (; j + lanes <= n; j += lanes) {
    const auto size = hn::Abs(hn::LoadU(d, row + j));
    most = hn::Max(most, size);
    zeros = hn::MulAdd(size, hn::Zero(d), zeros);
  }
  float largest = hn::GetLane(hn::MaxOfLanes(d, most)), zero = hn::GetLane(hn::SumOfLanes(d, zeros));
  for (; j < n; ++j) {
    largest = HWY_MAX(largest, std::abs(row[j]));
    zero += row[j] * 0;
  }
  const float inverse = 127 / largest;
  if (!std::isfinite(inverse) || zero != 0) {
    std::fill(to, to + n, int8_t{0});
    return zero != 0 ? zero : largest / 127;
  }
  for (j = 0; j + lanes <= n; j += lanes) {
    const auto nearest = hn::NearestInt(hn::Mul(hn::LoadU(d, row + j), hn::Set(d, inverse)));
    hn::StoreU(hn::DemoteTo(bytes, nearest), bytes, to + j);
  }
  for (; j < n; ++j) to[j] = static_cast<int8_t>(std::nearbyint(row[j] * inverse));
  return largest / 127;
}

// Four rows of the weights and `count` rows of x at a time: each byte is widened once for all of these.
template <int count>
HWY_INLINE void dot_products(const float* x, const Int8Matrix& w, int64_t row, int64_t rows, const float* bias,
                             float* y) {
  constexpr int group = 4;
  const hn::ScalableTag<float> d;
  const hn::Rebind<int8_t, decltype(d)> bytes;
  const hn::RebindToSigned<decltype(d)> wide;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t n = w.columns;
  hn::Vec<decltype(d)> sums[group][count];
  const int8_t* from[group];
  for (int i = 0; i < group; ++i) {
    from[i] = w.values + (row + HWY_MIN(i, rows - 1)) * n;  // the last rows again where there are no more
    for (int r = 0; r < count; ++r) sums[i][r] = hn::Zero(d);
  }
  int64_t j = 0;
  for (; j + lanes <= n; j += lanes) {
    hn::Vec<decltype(d)> left[count];
    for (int r = 0; r < count; ++r) left[r] = hn::LoadU(d, x + r * n + j);
    for (int i = 0; i < group; ++i) {
      const auto weight = hn::ConvertTo(d, hn::PromoteTo(wide, hn::LoadU(bytes, from[i] + j)));
      for (int r = 0; r < count; ++r) sums[i][r] = hn::MulAdd(left[r], weight, sums[i][r]);
    }
  }
  for (int i = 0; i < HWY_MIN(group, rows); ++i) {
    for (int r = 0; r < count; ++r) {
      float sum = hn::GetLane(hn::SumOfLanes(d, sums[i][r]));
      for (int64_t rest = j; rest < n; ++rest) sum += x[r * n + rest] * static_cast<float>(from[i][rest]);
      y[r * w.rows + row + i] = w.scales[row + i] * sum + (bias != nullptr ? bias[row + i] : 0);
    }
  }
}

// Rows [begin, end) of the weights.
void int8_product_lanes(const float* x, int64_t m, const Int8Matrix& w, const float* bias, int64_t begin, int64_t end,
                        float* y) {
  for (int64_t row = begin; row < end; row += 4) {
    const int64_t rows = HWY_MIN(4, end - row);
    int64_t r = 0;
    for (; r + 4 <= m; r += 4) dot_products<4>(x + r * w.columns, w, row, rows, bias, y + r * w.rows);
    for (; r < m; ++r) dot_products<1>(x + r * w.columns, w, row, rows, bias, y + r * w.rows);
  }
}

}  // namespace glass::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>

#include "glassformer/base/threads.h"
#include "kernels/dispatch.h"

namespace glass::kernels {

HWY_EXPORT(quantize_row_lanes);
HWY_EXPORT(int8_product_lanes);

void quantize_rows(const float* w, int64_t rows, int64_t columns, int8_t* values, float* scales) {
  const auto lanes = GLASS_DISPATCH(quantize_row_lanes);
  parallel_for(rows, std::max<int64_t>(1, (1 << 16) / std::max<int64_t>(1, columns)), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) scales[i] = lanes(w + i * columns, columns, values + i * columns);
  });
}

void int8_product(const float* x, int64_t m, const Int8Matrix& w, const float* bias, float* y) {
  const auto lanes = GLASS_DISPATCH(int8_product_lanes);
  constexpr int64_t worth_a_chunk = 1 << 18;  // weights: what a core reads in some 10 µs
  const int64_t rows = std::max<int64_t>(4, worth_a_chunk / std::max<int64_t>(1, w.columns) / 4 * 4);
  parallel_for(w.rows, rows, [&](int64_t begin, int64_t end) { lanes(x, m, w, bias, begin, end, y); });
}

}  // namespace glass::kernels
#endif
