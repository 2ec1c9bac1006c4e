// Eight Philox counters are worked on at once: the rounds of one depend on each other, those of eight do not, and the
// compiler makes vectors of them.
#include "kernels/dropout.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/dropout.cc"
#include <hwy/foreach_target.h>
// Highway includes this file once for each target, so what follows must come after.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace glass::kernels::HWY_NAMESPACE {

constexpr int blocks = 16;  // counters at once

// words[4·i + lane] for counters (c0, c1, c2, first + i): philox() of base/random.h, value for value.
void philox_blocks(uint64_t key, uint32_t c0, uint32_t c1, uint32_t c2, uint32_t first, uint32_t* words) {
  uint32_t x0[blocks], x1[blocks], x2[blocks], x3[blocks];
  for (int i = 0; i < blocks; ++i) {
    x0[i] = c0;
    x1[i] = c1;
    x2[i] = c2;
    x3[i] = first + static_cast<uint32_t>(i);
  }
  auto key0 = static_cast<uint32_t>(key), key1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < blocks; ++i) {
      const uint64_t product0 = uint64_t{0xD2511F53u} * x0[i];
      const uint64_t product1 = uint64_t{0xCD9E8D57u} * x2[i];
      const uint32_t next0 = static_cast<uint32_t>(product1 >> 32) ^ x1[i] ^ key0;
      const uint32_t next2 = static_cast<uint32_t>(product0 >> 32) ^ x3[i] ^ key1;
      x1[i] = static_cast<uint32_t>(product1);
      x3[i] = static_cast<uint32_t>(product0);
      x0[i] = next0;
      x2[i] = next2;
    }
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  for (int i = 0; i < blocks; ++i) {
    words[4 * i] = x0[i];
    words[4 * i + 1] = x1[i];
    words[4 * i + 2] = x2[i];
    words[4 * i + 3] = x3[i];
  }
}

// One innermost row: the column is the last counter, four to a block.
void dropout_row_float(const float* x, int64_t n, uint64_t key, uint32_t c0, uint32_t c1, uint32_t c2,
                       uint32_t threshold, float scale, float* y) {
  uint32_t words[4 * blocks];
  for (int64_t j = 0; j < n; j += 4 * blocks) {
    philox_blocks(key, c0, c1, c2, static_cast<uint32_t>(j / 4), words);
    const int64_t count = HWY_MIN(n - j, 4 * blocks);
    for (int64_t i = 0; i < count; ++i) y[j + i] = (words[i] >> 8) >= threshold ? x[j + i] * scale : 0.0f;
  }
}

}  // namespace glass::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <cmath>

#include "glassformer/base/random.h"
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
