// A block of the right operand is packed into panels that stay in the cache, half a megabyte, while all rows pass by
// it; a tile of the result stays in registers (kernels/block_product.h).
#include "kernels/gemm_blocks.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm_blocks.cc"
#include <hwy/foreach_target.h>
// Highway includes this file once for each target, so what follows must come after.
#include <hwy/aligned_allocator.h>
#include <hwy/highway.h>

#include <algorithm>

#include "kernels/block_product.h"

HWY_BEFORE_NAMESPACE();
namespace glass::kernels::HWY_NAMESPACE {

// One thread's; its memory serves all products.
class BlockProducts {
 public:
  BlockProducts()
      : right_(memory(Panels::size(most_steps, most_columns))),
        left_(memory(most_rows * turned_stride)),
        rest_(memory(most_rows * panel_width())) {}

  void multiply(GemmSizes s, Matrix<float> a, Matrix<float> b, bool add, float* c, int64_t leading_c) {
    for (int64_t column = 0; column < s.n; column += most_columns) {
      const int64_t columns = std::min(most_columns, s.n - column);
      for (int64_t step = 0; step < s.k; step += most_steps) {
        const Panels right = pack(b, step, std::min(most_steps, s.k - step), column, columns);
        for (int64_t row = 0; row < s.m; row += most_rows) {
          const int64_t rows = std::min(most_rows, s.m - row);
          multiply_rows(left(a, row, rows, step, right.steps), rows, right, add || step > 0,
                        c + row * leading_c + column, leading_c);
        }
      }
    }
  }

 private:
  static constexpr int64_t most_rows = 96, most_columns = 512, most_steps = 256;
  static constexpr int64_t turned_stride = most_steps + 16;  // rows a power of two apart would share lines of the cache

  Panels pack(Matrix<float> b, int64_t step, int64_t steps, int64_t column, int64_t columns) {
    const Panels panels{right_.get(), steps, columns};
    if (b.transposed) {
      Float32::pack_transposed({b.data + column * b.leading + step, b.leading}, steps, 1, panels);
    } else {
      Float32::pack({b.data + step * b.leading + column, b.leading}, steps, panels);
    }
    return panels;
  }

  // Where it lies, or turned.
  LeftBlock left(Matrix<float> a, int64_t row, int64_t rows, int64_t step, int64_t steps) {
    if (!a.transposed) return {a.data + row * a.leading + step, a.leading, 1};
    transpose_into<false>({a.data + step * a.leading + row, a.leading}, steps, rows, 1, left_.get(), turned_stride);
    return {left_.get(), turned_stride, 1};
  }

  // Whole panels go to C itself; the last one, if it is not whole, has more columns than C.
  void multiply_rows(LeftBlock a, int64_t rows, const Panels& b, bool add, float* c, int64_t leading_c) {
    const int64_t whole = b.columns / panel_width() * panel_width(), rest = b.columns - whole;
    multiply_block<Float32>(a, rows, b, {0, b.steps, 0, whole}, add, c, leading_c);
    if (rest == 0) return;
    for (int64_t i = 0; i < rows && add; ++i) {
      std::copy_n(c + i * leading_c + whole, rest, rest_.get() + i * panel_width());
    }
    multiply_block<Float32>(a, rows, b, {0, b.steps, whole, rest}, add, rest_.get(), panel_width());
    for (int64_t i = 0; i < rows; ++i) std::copy_n(rest_.get() + i * panel_width(), rest, c + i * leading_c + whole);
  }

  using Memory = hwy::AlignedFreeUniquePtr<float[]>;
  static Memory memory(int64_t count) { return hwy::AllocateAligned<float>(static_cast<size_t>(count)); }

  Memory right_, left_, rest_;
};

void gemm_blocks_lanes(GemmSizes s, Matrix<float> a, Matrix<float> b, bool add, float* c, int64_t leading_c) {
  thread_local BlockProducts products;
  products.multiply(s, a, b, add, c, leading_c);
}

}  // namespace glass::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/dispatch.h"

namespace glass::kernels {

HWY_EXPORT(gemm_blocks_lanes);

void gemm_blocks(GemmSizes sizes, Matrix<float> a, Matrix<float> b, bool add, float* c, int64_t leading_c) {
  GLASS_DISPATCH(gemm_blocks_lanes)(sizes, a, b, add, c, leading_c);
}

}  // namespace glass::kernels
#endif
