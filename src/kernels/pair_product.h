// What block_product.h needs to multiply blocks in bf16, once for each of Highway's targets: included inside
// HWY_NAMESPACE files only. AVX512-BF16 multiplies two steps of a product at once and sums them up in float32, so two
// steps lie together in 32 bits, in the place of one step of float32: the even one in the lower half.
#if defined(GLASS_PAIR_PRODUCT_H) == defined(HWY_TARGET_TOGGLE)
#ifdef GLASS_PAIR_PRODUCT_H
#undef GLASS_PAIR_PRODUCT_H
#else
#define GLASS_PAIR_PRODUCT_H
#endif

#include <hwy/highway.h>

#include "glassformer/base/bfloat16.h"
#include "kernels/block_product.h"

#if HWY_TARGET == HWY_AVX3
#include <immintrin.h>
// Highway's AVX-512 is without it; has_bf16_products() says whether the processor has it.
#define GLASS_BF16_TARGET __attribute__((target(HWY_TARGET_STR ",avx512bf16")))

HWY_BEFORE_NAMESPACE();
namespace glass::kernels::HWY_NAMESPACE {

struct Bf16Pairs {
  // Pairs for n elements; the last is filled up with a zero.
  static int64_t steps(int64_t n) { return (n + 1) / 2; }

  // to = the elements of a row, two by two, times factor. `to` may be where the row is.
  template <class T>
  GLASS_BF16_TARGET HWY_NOINLINE static void round_row(const T* from, int64_t n, float factor, float* to) {
    const __m512 f = _mm512_set1_ps(factor);
    for (int64_t j = 0; j < n; j += 32) {
      const __m512 low = _mm512_mul_ps(f, load(from + j, n - j));
      const __m512 high = _mm512_mul_ps(f, load(from + j + 16, n - j - 16));
      const __m512bh pairs = _mm512_cvtne2ps_pbh(high, low);
      _mm512_mask_storeu_epi32(to + j / 2, first(steps(n - j)), reinterpret_cast<const __m512i&>(pairs));
    }
  }

  // to[j] = {even[j], odd[j]}; no odd row: zeros in its place.
  template <class T>
  GLASS_BF16_TARGET HWY_NOINLINE static void pair_rows(const T* even, const T* odd, int64_t n, float* to) {
    for (int64_t j = 0; j < n; j += 16) {
      __m512i pairs = rounded(even + j, n - j);
      if (odd != nullptr) pairs = _mm512_or_si512(pairs, _mm512_slli_epi32(rounded(odd + j, n - j), 16));
      _mm512_mask_storeu_epi32(to + j, first(n - j), pairs);
    }
  }

  template <int rows, int vectors>
  GLASS_BF16_TARGET HWY_NOINLINE static void multiply_tile(LeftBlock a, const float* b, int64_t b_width, int64_t steps,
                                                           bool add, float* c, int64_t c_stride) {
    __m512 sums[rows][vectors];
    for (int r = 0; r < rows; ++r) {
      for (int v = 0; v < vectors; ++v) {
        sums[r][v] = add ? _mm512_loadu_ps(c + r * c_stride + v * 16) : _mm512_setzero_ps();
      }
    }
    for (int64_t step = 0; step < steps; ++step, b += b_width) {
      __m512 right[vectors];
      for (int v = 0; v < vectors; ++v) right[v] = _mm512_loadu_ps(b + v * 16);
      const float* left = a.data + step * a.step_stride;
      for (int r = 0; r < rows; ++r) {
        const __m512 pair = _mm512_set1_ps(left[r * a.row_stride]);
        for (int v = 0; v < vectors; ++v) {
          sums[r][v] = _mm512_dpbf16_ps(sums[r][v], reinterpret_cast<const __m512bh&>(pair),
                                        reinterpret_cast<const __m512bh&>(right[v]));
        }
      }
    }
    for (int r = 0; r < rows; ++r) {
      for (int v = 0; v < vectors; ++v) _mm512_storeu_ps(c + r * c_stride + v * 16, sums[r][v]);
    }
  }

  // panels = rows, of which there are so many.
  template <class T>
  static void pack(TypedRows<T> from, int64_t rows, const Panels& to) {
    for (int64_t column = 0; column < to.columns; column += panel_width()) {
      const int64_t width = to.width(column), filled = HWY_MIN(width, to.columns - column);
      float* out = to.panel(column);
      for (int64_t row = 0; row < rows; row += 2, out += width) {
        const T* even = from.data + row * from.stride + column;
        pair_rows<T>(even, row + 1 < rows ? even + from.stride : nullptr, filled, out);
        for (int64_t j = filled; j < width; ++j) out[j] = 0;
      }
    }
  }

  // panels = factor · rowsᵀ, rows of `width` elements.
  template <class T>
  static void pack_transposed(TypedRows<T> from, int64_t width, float factor, const Panels& to) {
    constexpr int64_t most_width = 1024;
    HWY_ALIGN float pairs[4 * most_width / 2];  // of four rows, each as wide as it may be
    for (int64_t column = 0; column < to.columns; column += panel_width()) {
      const int64_t panel = to.width(column), filled = HWY_MIN(panel, to.columns - column);
      for (int64_t j = 0; j < filled; j += 4) {
        const int64_t rows = HWY_MIN(int64_t{4}, filled - j);
        for (int64_t begin = 0; begin < width; begin += most_width) {
          const int64_t part = HWY_MIN(most_width, width - begin);
          for (int64_t i = 0; i < rows; ++i) {
            round_row(from.data + (column + j + i) * from.stride + begin, part, factor, pairs + i * most_width / 2);
          }
          transpose_into<false>(Rows{pairs, most_width / 2}, rows, steps(part), 1,
                                to.panel(column) + begin / 2 * panel + j, panel);
        }
      }
      fill_up(to, column, filled);
    }
  }

  // Rows as a left operand: those of another's tensor, rounded into memory of steps(width) a row.
  template <class T>
  static LeftBlock left(TypedRows<T> from, int64_t rows, int64_t width, float* memory) {
    for (int64_t i = 0; i < rows; ++i) round_row(from.data + i * from.stride, width, 1, memory + i * steps(width));
    return {memory, steps(width), 1};
  }
  // … and those of a block of ours, which are lost.
  static LeftBlock left_in_place(float* block, int64_t stride, int64_t rows, int64_t n) {
    for (int64_t i = 0; i < rows; ++i) round_row(block + i * stride, n, 1, block + i * stride);
    return {block, stride, 1};
  }
  // A block of ours, transposed; memory for steps(rows) rows of it.
  static LeftBlock left_across(const float* block, int64_t stride, int64_t rows, int64_t n, float* memory) {
    for (int64_t i = 0; i < rows; i += 2) {
      const float* even = block + i * stride;
      pair_rows<float>(even, i + 1 < rows ? even + stride : nullptr, n, memory + i / 2 * stride);
    }
    return {memory, 1, stride};
  }

 private:
  // The first n of 16 lanes.
  HWY_INLINE static __mmask16 first(int64_t n) {
    return static_cast<__mmask16>(n >= 16 ? 0xffff : n <= 0 ? 0 : (1 << n) - 1);
  }

  // The first n of 16 elements, zeros behind them.
  GLASS_BF16_TARGET HWY_INLINE static __m512 load(const float* from, int64_t n) {
    return _mm512_maskz_loadu_ps(first(n), from);
  }
  GLASS_BF16_TARGET HWY_INLINE static __m512 load(const bfloat16* from, int64_t n) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(rounded(from, n), 16));
  }
  // The same as bf16, in the lower half of each lane.
  GLASS_BF16_TARGET HWY_INLINE static __m512i rounded(const float* from, int64_t n) {
    const __m256bh narrow = _mm512_cvtneps_pbh(load(from, n));
    return _mm512_cvtepu16_epi32(reinterpret_cast<const __m256i&>(narrow));
  }
  GLASS_BF16_TARGET HWY_INLINE static __m512i rounded(const bfloat16* from, int64_t n) {
    return _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(first(n), from));
  }
};

}  // namespace glass::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
#endif
