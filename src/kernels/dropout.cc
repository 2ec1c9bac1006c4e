// A vector of Philox counters is worked on at once: the rounds of one depend on each other, those of several do not.
#include "kernels/dropout.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/dropout.cc"
#include <hwy/foreach_target.h>
// Highway includes this file once for each target, so what follows must come after.
#include <hwy/highway.h>

#include "glassformer/base/random.h"

#ifndef GLASS_DROPOUT_ROWS
#define GLASS_DROPOUT_ROWS
namespace glass::kernels {

// What a run of rows draws by: its key, its first row's counters, and what becomes of the draws.
struct DropoutRows {
  uint64_t key;
  uint32_t c0, c1, c2;
  uint32_t threshold;  // a draw of 24 bits below it is dropped
  float scale;
};

}  // namespace glass::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace glass::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr size_t most_blocks = 64;  // lanes of the widest vector

#if HWY_TARGET != HWY_SCALAR

using Lanes = hn::CappedTag<uint32_t, most_blocks>;
using Words = hn::Vec<Lanes>;

// The low and the high half of each lane's product with `factor`.
HWY_INLINE void multiply(Words x, Words factor, Words& low, Words& high) {
  const Lanes d;
  const hn::RepartitionToWide<Lanes> wide;
  const auto even = hn::MulEven(x, factor);
  const auto odd = hn::MulEven(hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(wide, x))), factor);
  low = hn::OddEven(hn::BitCast(d, hn::ShiftLeft<32>(odd)), hn::BitCast(d, even));
  high = hn::OddEven(hn::BitCast(d, odd), hn::BitCast(d, hn::ShiftRight<32>(even)));
}

// words[4·l + i] is word i of philox(key, {c0, c1, c2 + lane l of x2, lane l of x3}) of base/random.h, value for value.
HWY_INLINE void philox_blocks(const DropoutRows& at, Words x2, Words x3, uint32_t* words) {
  const Lanes d;
  auto x0 = hn::Set(d, at.c0), x1 = hn::Set(d, at.c1);
  x2 = hn::Add(x2, hn::Set(d, at.c2));
  const auto factor0 = hn::Set(d, 0xD2511F53u), factor1 = hn::Set(d, 0xCD9E8D57u);
  auto key0 = static_cast<uint32_t>(at.key), key1 = static_cast<uint32_t>(at.key >> 32);
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
}

#endif

HWY_INLINE void apply(const float* x, const uint32_t* words, int64_t count, const DropoutRows& at, float* y) {
  for (int64_t i = 0; i < count; ++i) y[i] = (words[i] >> 8) >= at.threshold ? x[i] * at.scale : 0.0f;
}

#if HWY_TARGET == HWY_SCALAR

// Without vectors there is nothing to work on at once.
void dropout_rows_float(const float* x, int64_t rows, int64_t n, DropoutRows at, float* y) {
  for (; rows > 0; --rows, ++at.c2, x += n, y += n) {
    for (int64_t j = 0; j < n; j += 4) {
      const PhiloxBlock words = philox(at.key, {at.c0, at.c1, at.c2, static_cast<uint32_t>(j / 4)});
      apply(x + j, words.data(), HWY_MIN(n - j, 4), at, y + j);
    }
  }
}

#else

// Rows that leave half of a vector's blocks unused: several rows share one vector.
HWY_INLINE void short_rows(const float* x, int64_t rows, int64_t n, DropoutRows at, float* y) {
  const Lanes d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d)), blocks = (n + 3) / 4, most_rows = lanes / blocks;
  HWY_ALIGN uint32_t row_of[most_blocks], block_of[most_blocks];
  for (int64_t lane = 0; lane < lanes; ++lane) {
    row_of[lane] = static_cast<uint32_t>(lane / blocks);
    block_of[lane] = static_cast<uint32_t>(lane % blocks);
  }
  uint32_t words[4 * most_blocks], joined[4 * most_blocks];
  while (rows > 0) {
    const int64_t count = HWY_MIN(rows, most_rows);
    philox_blocks(at, hn::Load(d, row_of), hn::Load(d, block_of), words);
    for (int64_t row = 0; row < count;
         ++row) {  // a row's last block may be wider than it: the next row overwrites that
      for (int64_t block = 0; block < blocks; ++block) {
        hwy::CopyBytes<16>(words + 4 * (row * blocks + block), joined + row * n + 4 * block);
      }
    }
    apply(x, joined, count * n, at, y);
    rows -= count;
    at.c2 += static_cast<uint32_t>(count);
    x += count * n;
    y += count * n;
  }
}

// The column is the last counter, four to a block.
HWY_INLINE void long_row(const float* x, int64_t n, const DropoutRows& at, float* y) {
  const Lanes d;
  const int64_t drawn = 4 * static_cast<int64_t>(hn::Lanes(d));
  uint32_t words[4 * most_blocks];
  for (int64_t j = 0; j < n; j += drawn) {
    philox_blocks(at, hn::Zero(d), hn::Iota(d, static_cast<uint32_t>(j / 4)), words);
    apply(x + j, words, HWY_MIN(n - j, drawn), at, y + j);
  }
}

// Rows one after another in memory and in c2.
void dropout_rows_float(const float* x, int64_t rows, int64_t n, DropoutRows at, float* y) {
  const bool short_ones = 2 * ((n + 3) / 4) <= static_cast<int64_t>(hn::Lanes(Lanes()));
  if (rows > 1 && short_ones) return short_rows(x, rows, n, at, y);
  for (; rows > 0; --rows, ++at.c2, x += n, y += n) long_row(x, n, at, y);
}

#endif

}  // namespace glass::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <cmath>

#include "kernels/dispatch.h"
#include "kernels/strided.h"

namespace glass::kernels {

HWY_EXPORT(dropout_rows_float);

namespace {

uint32_t drop_threshold(double rate) { return static_cast<uint32_t>(std::lround(rate * 0x1p24)); }

void dropout_rows(const float* x, int64_t rows, int64_t n, const DropoutRows& at, double, float* y) {
  GLASS_DISPATCH(dropout_rows_float)(x, rows, n, at, y);
}

void dropout_rows(const double* x, int64_t rows, int64_t n, const DropoutRows& at, double rate, double* y) {
  plain::dropout_rows(x, rows, n, at.key, {at.c0, at.c1, at.c2}, rate, y);
}

}  // namespace

template <class T>
void dropout(const T* x, const DropoutPlace& place, double rate, T* y) {
  const int64_t n1 = place.extents[1], n2 = place.extents[2], n = place.extents[3];
  if (n == 0) return;
  const DropoutRows first{place.key, 0, 0, 0, drop_threshold(rate), static_cast<float>(1 / (1 - rate))};
  parallel_for(place.extents[0] * n1 * n2, std::max<int64_t>(1, element_chunk / std::max<int64_t>(1, n)),
               [&](int64_t begin, int64_t end) {
                 DropoutRows at = first;
                 for (int64_t r = begin; r < end;) {  // rows in runs that share all but the third index
                   const int64_t run = std::min(end - r, n2 - r % n2);
                   at.c0 = static_cast<uint32_t>(place.first_example + static_cast<uint64_t>(r / n2 / n1));
                   at.c1 = static_cast<uint32_t>(r / n2 % n1);
                   at.c2 = static_cast<uint32_t>(r % n2);
                   dropout_rows(x + r * n, run, n, at, rate, y + r * n);
                   r += run;
                 }
               });
}

template void dropout(const float*, const DropoutPlace&, double, float*);
template void dropout(const double*, const DropoutPlace&, double, double*);

}  // namespace glass::kernels
#endif
