// A vector of Philox counters is worked on at once: the rounds of one depend on each other, those of several do not.
#include "kernels/dropout.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/dropout.cc"
#include <hwy/foreach_target.h>
// Highway includes this file once for each target, so what follows must come after.
#include <hwy/highway.h>

#include "glassformer/base/random.h"

HWY_BEFORE_NAMESPACE();
namespace glass::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr size_t most_blocks = 64;  // lanes of the widest vector

#if HWY_TARGET == HWY_SCALAR

// Without vectors there is nothing to work on at once.
int64_t philox_blocks(uint64_t key, uint32_t c0, uint32_t c1, uint32_t c2, uint32_t first, uint32_t* words) {
  const PhiloxBlock block = philox(key, {c0, c1, c2, first});
  for (size_t i = 0; i < block.size(); ++i) words[i] = block[i];
  return 1;
}

#else

// The low and the high half of each lane's product with `factor`.
template <class V>
HWY_INLINE void multiply(V x, V factor, V& low, V& high) {
  const hn::DFromV<V> d;
  const hn::RepartitionToWide<decltype(d)> wide;
  const auto even = hn::MulEven(x, factor);
  const auto odd = hn::MulEven(hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(wide, x))), factor);
  low = hn::OddEven(hn::BitCast(d, hn::ShiftLeft<32>(odd)), hn::BitCast(d, even));
  high = hn::OddEven(hn::BitCast(d, odd), hn::BitCast(d, hn::ShiftRight<32>(even)));
}

// words[4·i + lane] for counters (c0, c1, c2, first + i), one i a vector lane: philox() of base/random.h, value for value.
// Returns how many i.
int64_t philox_blocks(uint64_t key, uint32_t c0, uint32_t c1, uint32_t c2, uint32_t first, uint32_t* words) {
  const hn::CappedTag<uint32_t, most_blocks> d;
  auto x0 = hn::Set(d, c0), x1 = hn::Set(d, c1), x2 = hn::Set(d, c2), x3 = hn::Iota(d, first);
  const auto factor0 = hn::Set(d, 0xD2511F53u), factor1 = hn::Set(d, 0xCD9E8D57u);
  auto key0 = static_cast<uint32_t>(key), key1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    auto low0 = x0, high0 = x0, low1 = x0, high1 = x0;
    multiply(x0, factor0, low0, high0);
    multiply(x2, factor1, low1, high1);
    x0 = hn::Xor(hn::Xor(high1, x1), hn::Set(d, key0));
    x2 = hn::Xor(hn::Xor(high0, x3), hn::Set(d, key1));
    x1 = low1;
    x3 = low0;
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  hn::StoreInterleaved4(x0, x1, x2, x3, d, words);
  return static_cast<int64_t>(hn::Lanes(d));
}

#endif

// One innermost row: the column is the last counter, four to a block.
void dropout_row_float(const float* x, int64_t n, uint64_t key, uint32_t c0, uint32_t c1, uint32_t c2,
                       uint32_t threshold, float scale, float* y) {
  uint32_t words[4 * most_blocks];
  for (int64_t j = 0; j < n;) {
    const int64_t drawn = 4 * philox_blocks(key, c0, c1, c2, static_cast<uint32_t>(j / 4), words);
    const int64_t count = HWY_MIN(n - j, drawn);
    for (int64_t i = 0; i < count; ++i) y[j + i] = (words[i] >> 8) >= threshold ? x[j + i] * scale : 0.0f;
    j += drawn;
  }
}

}  // namespace glass::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <cmath>

#include "kernels/dispatch.h"
#include "kernels/strided.h"

namespace glass::kernels {

HWY_EXPORT(dropout_row_float);

namespace {

// A draw of 24 bits below this is dropped.
uint32_t drop_threshold(double rate) { return static_cast<uint32_t>(std::lround(rate * 0x1p24)); }

void dropout_row(const float* x, int64_t n, uint64_t key, uint32_t c0, uint32_t c1, uint32_t c2, uint32_t threshold,
                 float scale, float* y) {
  GLASS_DISPATCH(dropout_row_float)(x, n, key, c0, c1, c2, threshold, scale, y);
}

void dropout_row(const double* x, int64_t n, uint64_t key, uint32_t c0, uint32_t c1, uint32_t c2, uint32_t threshold,
                 double scale, double* y) {
  for (int64_t j = 0; j < n; ++j) {
    const uint32_t word = philox(key, {c0, c1, c2, static_cast<uint32_t>(j / 4)})[static_cast<size_t>(j % 4)];
    y[j] = (word >> 8) >= threshold ? x[j] * scale : 0.0;
  }
}

}  // namespace

template <class T>
void dropout(const T* x, const DropoutPlace& place, double rate, T* y) {
  const int64_t n1 = place.extents[1], n2 = place.extents[2], n = place.extents[3];
  const uint32_t threshold = drop_threshold(rate);
  const T scale = static_cast<T>(1 / (1 - rate));
  parallel_for(place.extents[0] * n1 * n2, std::max<int64_t>(1, element_chunk / std::max<int64_t>(1, n)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t r = begin; r < end; ++r) {
                   const uint64_t example = place.first_example + static_cast<uint64_t>(r / n2 / n1);
                   dropout_row(x + r * n, n, place.key, static_cast<uint32_t>(example),
                               static_cast<uint32_t>(r / n2 % n1), static_cast<uint32_t>(r % n2), threshold, scale,
                               y + r * n);
                 }
               });
}

template void dropout(const float*, const DropoutPlace&, double, float*);
template void dropout(const double*, const DropoutPlace&, double, double*);

}  // namespace glass::kernels
#endif
