#include "kernels/dropout.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/dropout.cc"
#include <hwy/foreach_target.h>
// Highway includes this file once for each target, so what follows must come after.
#include <hwy/highway.h>

#include "kernels/dropout_lanes.h"
#include "kernels/kept_lanes.h"

HWY_BEFORE_NAMESPACE();
namespace glass::kernels::HWY_NAMESPACE {

// y = x·factors, and 0 where a factor is 0, whatever x is; those that are not, as bits.
HWY_INLINE void apply(const float* x, const float* factors, int64_t n, float* y, uint64_t* kept) {
  const hn::ScalableTag<float> d;
  const auto vector = [&](int64_t at) HWY_ATTR {
    const auto factor = hn::LoadU(d, factors + at);
    const auto is_kept = hn::Ne(factor, hn::Zero(d));
    hn::StoreU(hn::IfThenElseZero(is_kept, hn::Mul(hn::LoadU(d, x + at), factor)), d, y + at);
    return bits_of(d, is_kept);
  };
  const auto element = [&](int64_t at) {
    y[at] = factors[at] != 0 ? x[at] * factors[at] : 0;
    return factors[at] != 0;
  };
  gather_bits(n, static_cast<int64_t>(hn::Lanes(d)), vector, element, [&](int64_t number, uint64_t bits) {
    if (kept != nullptr) kept[number] = bits;
  });
}

// Rows one after another in memory and in c2.
void dropout_rows_float(const float* x, int64_t rows, int64_t n, DropoutDraws at, float* y, uint64_t* kept) {
  constexpr int64_t most_blocks = 512;  // of four elements, drawn at once; whole words of bits
  float factors[4 * most_blocks];
  const int64_t blocks = (n + 3) / 4, most_rows = HWY_MAX(1, most_blocks / blocks);
  for (int64_t row = 0; row < rows; row += most_rows) {
    const int64_t count = HWY_MIN(most_rows, rows - row);
    for (int64_t block = 0; block < blocks; block += most_blocks) {
      const int64_t drawn = HWY_MIN(most_blocks, blocks - block), width = HWY_MIN(4 * drawn, n - 4 * block);
      dropout_factors(at, count, block, drawn, factors, 4 * drawn);
      for (int64_t r = 0; r < count; ++r) {
        const int64_t from = (row + r) * n + 4 * block;
        uint64_t* bits = kept != nullptr ? kept + (row + r) * kept_words(n) + block / 16 : nullptr;
        apply(x + from, factors + r * 4 * drawn, width, y + from, bits);
      }
    }
    at.c2 += static_cast<uint32_t>(count);
  }
}

}  // namespace glass::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/dispatch.h"
#include "kernels/strided.h"

namespace glass::kernels {

HWY_EXPORT(dropout_rows_float);

namespace {

void dropout_rows(const float* x, int64_t rows, int64_t n, const DropoutDraws& at, double, float* y, uint64_t* kept) {
  GLASS_DISPATCH(dropout_rows_float)(x, rows, n, at, y, kept);
}

void dropout_rows(const double* x, int64_t rows, int64_t n, const DropoutDraws& at, double rate, double* y,
                  uint64_t* kept) {
  plain::dropout_rows(x, rows, n, at.key, {at.c0, at.c1, at.c2}, rate, y, kept);
}

// Rows that share all counters but the third.
struct RowRun {
  int64_t example, i1, i2, rows;
};

// Cuts the rows [begin, end) of an array into such runs: run(first row, where it is).
template <class Run>
void for_each_run(const DropoutPlace& place, int64_t begin, int64_t end, Run run) {
  if (place.packed_rows) {
    int64_t first = 0, example = 0;
    for (const int64_t rows : *place.packed_rows) {
      const int64_t from = std::max(begin, first), to = std::min(end, first + rows);
      if (from < to) run(from, RowRun{example, 0, from - first, to - from});
      first += rows;
      ++example;
    }
    return;
  }
  const int64_t n1 = place.extents[1], n2 = place.extents[2];
  for (int64_t r = begin; r < end;) {
    const int64_t rows = std::min(end - r, n2 - r % n2);
    run(r, RowRun{r / n2 / n1, r / n2 % n1, r % n2, rows});
    r += rows;
  }
}

}  // namespace

template <class T>
void dropout(const T* x, const DropoutPlace& place, double rate, T* y, uint64_t* kept) {
  const int64_t n = place.extents[3], rows = place.extents[0] * place.extents[1] * place.extents[2];
  if (n == 0) return;
  parallel_for(rows, std::max<int64_t>(1, element_chunk / n), [&](int64_t begin, int64_t end) {
    for_each_run(place, begin, end, [&](int64_t first, const RowRun& run) {
      DropoutDraws at = dropout_draws(place.key, rate);
      at.c0 = static_cast<uint32_t>(place.first_example + static_cast<uint64_t>(run.example));
      at.c1 = static_cast<uint32_t>(run.i1);
      at.c2 = static_cast<uint32_t>(run.i2);
      dropout_rows(x + first * n, run.rows, n, at, rate, y + first * n,
                   kept != nullptr ? kept + first * kept_words(n) : nullptr);
    });
  });
}

template void dropout(const float*, const DropoutPlace&, double, float*, uint64_t*);
template void dropout(const double*, const DropoutPlace&, double, double*, uint64_t*);

}  // namespace glass::kernels
#endif
