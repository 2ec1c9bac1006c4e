// The sum of a row, once for each of Highway's targets: included inside HWY_NAMESPACE files only.
#if defined(GLASS_ROW_LANES_H) == defined(HWY_TARGET_TOGGLE)
#ifdef GLASS_ROW_LANES_H
#undef GLASS_ROW_LANES_H
#else
#define GLASS_ROW_LANES_H
#endif

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace glass::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// The sum of n numbers.
HWY_INLINE float row_sum(const float* x, int64_t n) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  auto even = hn::Zero(d), odd = hn::Zero(d);  // two sums, so that additions need not wait for each other
  int64_t j = 0;
  for (; j + 2 * lanes <= n; j += 2 * lanes) {
    even = hn::Add(even, hn::LoadU(d, x + j));
    odd = hn::Add(odd, hn::LoadU(d, x + j + lanes));
  }
  float sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd)));
  for (; j < n; ++j) sum += x[j];
  return sum;
}

}  // namespace glass::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
