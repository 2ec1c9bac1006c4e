// In intrinsics: Highway's AVX-512 is without VNNI.
#include "kernels/int8_dot.h"

#include <immintrin.h>

#include "glassformer/base/threads.h"

#define GLASS_VNNI __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")))

namespace glass::kernels {

Int8Panels::Int8Panels(const int8_t* bytes, const float* scales, int64_t rows, int64_t columns)
    : rows_(rows), columns_(columns) {
  const int64_t all_rows = panels() * panel_rows;
  bytes_.resize(static_cast<size_t>(all_rows * steps() * 4));
  scales_.resize(static_cast<size_t>(all_rows));
  excess_.resize(static_cast<size_t>(all_rows));
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t in_panel = row % panel_rows;
    int8_t* to = bytes_.data() + (row / panel_rows * steps() * panel_rows + in_panel) * 4;
    const int8_t* from = bytes + row * columns;
    int64_t j = 0;
    for (; j + 4 <= columns; j += 4) __builtin_memcpy(to + j * panel_rows, from + j, 4);
    for (; j < columns; ++j) to[j / 4 * panel_rows * 4 + j % 4] = from[j];
    int32_t sum = 0;
    for (j = 0; j < columns; ++j) sum += from[j];
    scales_[static_cast<size_t>(row)] = scales[row];
    excess_[static_cast<size_t>(row)] = 128 * sum;
  }
}

namespace {

using Panels = Int8Panels;

// Rows of x as bytes 128 too high, each row whole steps long; and their scales, NaN for a row that is not finite.
struct Bytes {
  std::vector<uint8_t> values;
  std::vector<float> scales;
  int64_t stride;
};

GLASS_VNNI void round_row(const float* x, int64_t n, uint8_t* to, float& scale) {
  const auto part = [](int64_t left) { return static_cast<__mmask16>(left >= 16 ? 0xffff : (1 << left) - 1); };
  __m512 most = _mm512_setzero_ps(), sum = most;
  for (int64_t j = 0; j < n; j += 16) {
    const __m512 values = _mm512_abs_ps(_mm512_maskz_loadu_ps(part(n - j), x + j));
    most = _mm512_max_ps(most, values);
    sum = _mm512_add_ps(sum, _mm512_mul_ps(values, _mm512_setzero_ps()));  // NaN for what is not finite
  }
  const float largest = _mm512_reduce_max_ps(most) + _mm512_reduce_add_ps(sum);
  scale = largest / 127;
  const __m512 inverse = _mm512_set1_ps(largest > 0 ? 127 / largest : 0);
  for (int64_t j = 0; j < n; j += 16) {
    const __m512 values = _mm512_mul_ps(_mm512_maskz_loadu_ps(part(n - j), x + j), inverse);
    const __m512i high = _mm512_add_epi32(_mm512_cvtps_epi32(values), _mm512_set1_epi32(128));
    _mm_mask_storeu_epi8(to + j, part(n - j), _mm512_cvtusepi32_epi8(high));
  }
}

GLASS_VNNI Bytes rounded(const float* x, int64_t m, int64_t n) {
  const int64_t stride = (n + 3) / 4 * 4;
  Bytes bytes{std::vector<uint8_t>(static_cast<size_t>(m * stride)), std::vector<float>(static_cast<size_t>(m)),
              stride};
  constexpr int64_t worth_a_chunk = 1 << 15;
  parallel_for(m, std::max<int64_t>(1, worth_a_chunk / std::max<int64_t>(1, n)), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      round_row(x + r * n, n, bytes.values.data() + r * stride, bytes.scales[static_cast<size_t>(r)]);
    }
  });
  return bytes;
}

// sums + x·w, four bytes for each sum. GCC 12 copies the sums before and after its own intrinsic.
GLASS_VNNI inline __m512i add_products(__m512i sums, __m512i x, __m512i w) {
  asm("vpdpbusd %2, %1, %0" : "+v"(sums) : "v"(x), "v"(w));
  return sums;
}

// Rows [row, row + count) of x times a panel of weights, as whole numbers: panel_rows a row of x.
template <int count>
GLASS_VNNI void sum_products(const Bytes& x, int64_t row, const Panels& w, int64_t p, int32_t* to) {
  __m512i sums[count][Panels::vectors];
  for (int r = 0; r < count; ++r) {
    for (int v = 0; v < Panels::vectors; ++v) sums[r][v] = _mm512_setzero_si512();
  }
  const int64_t steps = w.steps(), stride = x.stride;
  const uint8_t* from = x.values.data() + row * stride;
  const int8_t* weights = w.panel(p);
  for (int64_t step = 0; step < steps; ++step, from += 4, weights += Panels::panel_rows * 4) {
    __m512i right[Panels::vectors];
    for (int v = 0; v < Panels::vectors; ++v) right[v] = _mm512_loadu_si512(weights + v * 64);
    for (int r = 0; r < count; ++r) {
      int32_t four;
      __builtin_memcpy(&four, from + r * stride, 4);
      const __m512i left = _mm512_set1_epi32(four);
      for (int v = 0; v < Panels::vectors; ++v) sums[r][v] = add_products(sums[r][v], left, right[v]);
    }
  }
  for (int r = 0; r < count; ++r) {
    for (int v = 0; v < Panels::vectors; ++v) {
      _mm512_storeu_si512(to + r * Panels::panel_rows + v * Panels::lanes, sums[r][v]);
    }
  }
}

// y of one row of x and the panel from its sums.
GLASS_VNNI void scale_sums(const int32_t* sums, float x_scale, const Panels& w, int64_t p, const float* bias,
                           float* y) {
  const int64_t first = p * Panels::panel_rows;
  for (int64_t at = 0; at < std::min(Panels::panel_rows, w.rows() - first); at += Panels::lanes) {
    const int64_t left = std::min(Panels::lanes, w.rows() - first - at);
    const auto inside = static_cast<__mmask16>((1 << left) - 1);
    const __m512i exact = _mm512_sub_epi32(_mm512_loadu_si512(sums + at), _mm512_loadu_si512(w.excess(p) + at));
    const __m512 scale = _mm512_mul_ps(_mm512_set1_ps(x_scale), _mm512_loadu_ps(w.scales(p) + at));
    const __m512 addend = bias != nullptr ? _mm512_maskz_loadu_ps(inside, bias + first + at) : _mm512_setzero_ps();
    const __m512 result = _mm512_add_ps(_mm512_mul_ps(scale, _mm512_cvtepi32_ps(exact)), addend);
    _mm512_mask_storeu_ps(y + first + at, inside, result);
  }
}

template <int count>
void multiply_rows(const Bytes& x, int64_t row, const Panels& w, int64_t p, const float* bias, float* y) {
  int32_t sums[count * Panels::panel_rows];
  sum_products<count>(x, row, w, p, sums);
  for (int64_t r = 0; r < count; ++r) {
    scale_sums(sums + r * Panels::panel_rows, x.scales[static_cast<size_t>(row + r)], w, p, bias,
               y + (row + r) * w.rows());
  }
}

void multiply_panel(const Bytes& x, int64_t m, const Panels& w, int64_t p, const float* bias, float* y) {
  int64_t row = 0;
  for (; row + 6 <= m; row += 6) multiply_rows<6>(x, row, w, p, bias, y);
  for (; row + 2 <= m; row += 2) multiply_rows<2>(x, row, w, p, bias, y);
  if (row < m) multiply_rows<1>(x, row, w, p, bias, y);
}

}  // namespace

void int8_dot(const float* x, int64_t m, const Int8Panels& w, const float* bias, float* y) {
  if (m == 0 || w.rows() == 0) return;
  const Bytes bytes = rounded(x, m, w.columns());
  constexpr int64_t worth_a_chunk = 1 << 18;  // multiplications: some microseconds of a core
  const int64_t of_a_panel = std::max<int64_t>(1, std::max<int64_t>(m, 4) * w.columns() * Panels::panel_rows);
  parallel_for(w.panels(), std::max<int64_t>(1, worth_a_chunk / of_a_panel), [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) multiply_panel(bytes, m, w, p, bias, y);
  });
}

}  // namespace glass::kernels
