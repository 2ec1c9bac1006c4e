// Philox by vectors, once for each of Highway's targets: included inside HWY_NAMESPACE files only. A vector of counters
// is worked on at once: the rounds of one depend on each other, those of several do not.
#if defined(GLASS_DROPOUT_LANES_H) == defined(HWY_TARGET_TOGGLE)
#ifdef GLASS_DROPOUT_LANES_H
#undef GLASS_DROPOUT_LANES_H
#else
#define GLASS_DROPOUT_LANES_H
#endif

#include <hwy/highway.h>

#include "glassformer/base/random.h"
#include "kernels/dropout.h"

HWY_BEFORE_NAMESPACE();
namespace glass::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

// Without vectors there is nothing to work on at once. See below.
HWY_INLINE void dropout_factors(const DropoutDraws& draws, int64_t rows, int64_t first_block, int64_t blocks,
                                float* factors, int64_t leading) {
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t block = 0; block < blocks; ++block) {
      const PhiloxBlock words = philox(draws.key, {draws.c0, draws.c1, draws.c2 + static_cast<uint32_t>(row),
                                                   static_cast<uint32_t>(first_block + block)});
      for (int64_t i = 0; i < 4; ++i) {
        factors[row * leading + 4 * block + i] = (words[i] >> 8) >= draws.threshold ? draws.scale : 0.0f;
      }
    }
  }
}

#else

using DrawTag = hn::CappedTag<uint32_t, 64>;
using Words = hn::Vec<DrawTag>;

// The low and the high half of each lane's product with `factor`.
HWY_INLINE void multiply(Words x, Words factor, Words& low, Words& high) {
  const DrawTag d;
  const hn::RepartitionToWide<DrawTag> wide;
  const auto even = hn::MulEven(x, factor);
  const auto odd = hn::MulEven(hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(wide, x))), factor);
  low = hn::OddEven(hn::BitCast(d, hn::ShiftLeft<32>(odd)), hn::BitCast(d, even));
  high = hn::OddEven(hn::BitCast(d, odd), hn::BitCast(d, hn::ShiftRight<32>(even)));
}

// Word i of lane l is word i of philox(key, {c0, c1, c2 + lane l of x2, lane l of x3}) of base/random.h, value for
// value.
HWY_INLINE void philox_blocks(const DropoutDraws& draws, Words& x0, Words& x1, Words& x2, Words& x3) {
  const DrawTag d;
  x0 = hn::Set(d, draws.c0);
  x1 = hn::Set(d, draws.c1);
  x2 = hn::Add(x2, hn::Set(d, draws.c2));
  const auto factor0 = hn::Set(d, 0xD2511F53u), factor1 = hn::Set(d, 0xCD9E8D57u);
  auto key0 = static_cast<uint32_t>(draws.key), key1 = static_cast<uint32_t>(draws.key >> 32);
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
}

// 0 where the draw says drop, else the scale.
HWY_INLINE hn::Vec<hn::RebindToFloat<DrawTag> > factor_of(Words words, const DropoutDraws& draws) {
  const DrawTag d;
  const hn::RebindToFloat<DrawTag> df;
  // Both are below 2^24, so as signed numbers they compare the same.
  const hn::RebindToSigned<DrawTag> ds;
  const auto dropped = hn::Lt(hn::BitCast(ds, hn::ShiftRight<8>(words)), hn::BitCast(ds, hn::Set(d, draws.threshold)));
  return hn::IfThenZeroElse(hn::RebindMask(df, dropped), hn::Set(df, draws.scale));
}

// What the elements [4·first_block, 4·(first_block + blocks)) of `rows` rows, one after another in c2, are multiplied
// with; row r at factors + r·leading, leading >= 4·blocks.
HWY_INLINE void dropout_factors(const DropoutDraws& draws, int64_t rows, int64_t first_block, int64_t blocks,
                                float* factors, int64_t leading) {
  const DrawTag d;
  const hn::RebindToFloat<DrawTag> df;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  HWY_ALIGN uint32_t row_of[hn::MaxLanes(d)], block_of[hn::MaxLanes(d)];
  HWY_ALIGN float drawn[4 * hn::MaxLanes(d)];
  float* to[hn::MaxLanes(d)];
  int64_t row = 0, block = 0;
  while (row < rows) {
    int64_t count = 0;
    for (; count < lanes && row < rows; ++count) {
      row_of[count] = static_cast<uint32_t>(row);
      block_of[count] = static_cast<uint32_t>(first_block + block);
      to[count] = factors + row * leading + 4 * block;
      if (++block == blocks) {
        block = 0;
        ++row;
      }
    }
    for (int64_t l = count; l < lanes; ++l) row_of[l] = block_of[l] = 0;
    auto x0 = hn::Zero(d), x1 = x0, x2 = hn::Load(d, row_of), x3 = hn::Load(d, block_of);
    philox_blocks(draws, x0, x1, x2, x3);
    hn::StoreInterleaved4(factor_of(x0, draws), factor_of(x1, draws), factor_of(x2, draws), factor_of(x3, draws), df,
                          drawn);
    for (int64_t l = 0; l < count; ++l) hwy::CopyBytes<16>(drawn + 4 * l, to[l]);
  }
}

#endif

}  // namespace glass::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
