// Products of small blocks that lie in the cache, once for each of Highway's targets: included inside HWY_NAMESPACE
// files only. The right operand is packed into panels first, so that a tile of the result, held in registers, reads it
// in order.
#if defined(GLASS_BLOCK_PRODUCT_H) == defined(HWY_TARGET_TOGGLE)
#ifdef GLASS_BLOCK_PRODUCT_H
#undef GLASS_BLOCK_PRODUCT_H
#else
#define GLASS_BLOCK_PRODUCT_H
#endif

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace glass::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using BlockTag = hn::ScalableTag<float>;
using BlockVector = hn::Vec<BlockTag>;

// Vectors of a panel's row, and rows of a tile beside them: 24 sums of the 32 registers of AVX-512, 12 of 16 elsewhere.
constexpr int panel_vectors = HWY_TARGET <= HWY_AVX3 ? 4 : 2;
constexpr int tile_rows = 6;

HWY_INLINE int64_t lanes_of_block() { return static_cast<int64_t>(hn::Lanes(BlockTag())); }
HWY_INLINE int64_t panel_width() { return panel_vectors * lanes_of_block(); }
HWY_INLINE int64_t whole_vectors(int64_t n) { return (n + lanes_of_block() - 1) / lanes_of_block() * lanes_of_block(); }

// A matrix [steps, columns] of which panel_width() columns at a time lie together, row after row; the last panel is as
// many whole vectors wide as it needs, its rest zeros.
struct Panels {
  float* data = nullptr;
  int64_t steps = 0, columns = 0;

  // Elements of memory.
  static int64_t size(int64_t steps, int64_t columns) { return steps * whole_vectors(columns); }
  float* panel(int64_t column) const { return data + column * steps; }  // that begins at `column`
  int64_t width(int64_t column) const { return HWY_MIN(panel_width(), whole_vectors(columns) - column); }
};

// Rows of adjacent elements: [rows, columns].
template <class T>
struct TypedRows {
  const T* data;
  int64_t stride;
};
using Rows = TypedRows<float>;

// The columns of the panel at `column` beyond the matrix's own.
HWY_INLINE void fill_up(const Panels& to, int64_t column, int64_t filled) {
  const int64_t width = to.width(column);
  float* out = to.panel(column);
  for (int64_t step = 0; step < to.steps && filled < width; ++step, out += width) {
    for (int64_t j = filled; j < width; ++j) out[j] = 0;
  }
}

#if HWY_TARGET != HWY_SCALAR

// Columns [0,4) of four rows, transposed: row i at to + i·to_stride. Unless `scaled`, whatever the bits mean.
template <bool scaled>
HWY_INLINE void transpose_four(const float* from, int64_t from_stride, float factor, float* to, int64_t to_stride) {
  const hn::FixedTag<float, 4> d;
  const hn::Repartition<double, decltype(d)> pairs;
  const auto row = [&](int64_t i) HWY_ATTR {
    const auto values = hn::LoadU(d, from + i * from_stride);
    return scaled ? hn::Mul(hn::Set(d, factor), values) : values;
  };
  const auto r0 = row(0), r1 = row(1), r2 = row(2), r3 = row(3);
  const auto a = hn::BitCast(pairs, hn::InterleaveLower(d, r0, r1)),
             b = hn::BitCast(pairs, hn::InterleaveLower(d, r2, r3));
  const auto e = hn::BitCast(pairs, hn::InterleaveUpper(d, r0, r1)),
             g = hn::BitCast(pairs, hn::InterleaveUpper(d, r2, r3));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, a, b)), d, to);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, a, b)), d, to + to_stride);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, e, g)), d, to + 2 * to_stride);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, e, g)), d, to + 3 * to_stride);
}

#endif

// to[step·width + j] = factor · from[j·stride + step]; unless `scaled`, the bits as they are.
template <bool scaled>
HWY_INLINE void transpose_into(Rows from, int64_t columns, int64_t steps, float factor, float* to, int64_t width) {
  int64_t whole_columns = 0, whole_steps = 0;
#if HWY_TARGET != HWY_SCALAR
  whole_columns = columns / 4 * 4;
  whole_steps = steps / 4 * 4;
  for (int64_t j = 0; j < whole_columns; j += 4) {
    for (int64_t step = 0; step < whole_steps; step += 4) {
      transpose_four<scaled>(from.data + j * from.stride + step, from.stride, factor, to + step * width + j, width);
    }
  }
#endif
  for (int64_t j = 0; j < columns; ++j) {
    const float* row = from.data + j * from.stride;
    for (int64_t step = j < whole_columns ? whole_steps : 0; step < steps; ++step) {
      if constexpr (scaled) {
        to[step * width + j] = factor * row[step];
      } else {
        hwy::CopyBytes<4>(row + step, to + step * width + j);
      }
    }
  }
}

// The left operand: its element of `row` and `step` is data[row · row_stride + step · step_stride].
struct LeftBlock {
  const float* data;
  int64_t row_stride, step_stride;
};

// The numbers of a product: how operands are laid out, and how a tile is multiplied. pair_product.h has another.
struct Float32 {
  // Steps of a product over n elements, in places of 32 bits.
  static int64_t steps(int64_t n) { return n; }

  // C (+)= A·B for `rows` rows and `vectors` vectors of columns; the sums stay in registers.
  template <int rows, int vectors>
  HWY_INLINE static void multiply_tile(LeftBlock a, const float* b, int64_t b_width, int64_t steps, bool add, float* c,
                                       int64_t c_stride) {
    const BlockTag d;
    const int64_t lanes = lanes_of_block();
    BlockVector sums[rows][vectors];
    for (int r = 0; r < rows; ++r) {
      for (int v = 0; v < vectors; ++v) sums[r][v] = add ? hn::LoadU(d, c + r * c_stride + v * lanes) : hn::Zero(d);
    }
    for (int64_t step = 0; step < steps; ++step, b += b_width) {
      BlockVector right[vectors];
      for (int v = 0; v < vectors; ++v) right[v] = hn::LoadU(d, b + v * lanes);
      const float* left = a.data + step * a.step_stride;
      for (int r = 0; r < rows; ++r) {
        const auto factor = hn::Set(d, left[r * a.row_stride]);
        for (int v = 0; v < vectors; ++v) sums[r][v] = hn::MulAdd(factor, right[v], sums[r][v]);
      }
    }
    for (int r = 0; r < rows; ++r) {
      for (int v = 0; v < vectors; ++v) hn::StoreU(sums[r][v], d, c + r * c_stride + v * lanes);
    }
  }

  // panels = rows, of which there are so many.
  HWY_INLINE static void pack(Rows from, int64_t rows, const Panels& to) {
    for (int64_t column = 0; column < to.columns; column += panel_width()) {
      const int64_t width = to.width(column), filled = HWY_MIN(width, to.columns - column);
      float* out = to.panel(column);
      for (int64_t i = 0; i < rows; ++i, out += width) {
        const float* row = from.data + i * from.stride + column;
        for (int64_t j = 0; j < filled; ++j) out[j] = row[j];
      }
      fill_up(to, column, filled);
    }
  }

  // panels = factor · rowsᵀ, rows of `width` elements.
  HWY_INLINE static void pack_transposed(Rows from, int64_t width, float factor, const Panels& to) {
    for (int64_t column = 0; column < to.columns; column += panel_width()) {
      const int64_t panel = to.width(column), filled = HWY_MIN(panel, to.columns - column);
      const Rows rows{from.data + column * from.stride, from.stride};
      transpose_into<true>(rows, filled, width, factor, to.panel(column), panel);
      fill_up(to, column, filled);
    }
  }

  // Rows as a left operand: those of another's tensor, which need no memory here; of a block of ours; and of such a
  // block transposed.
  static LeftBlock left(Rows from, int64_t, int64_t, float*) { return {from.data, from.stride, 1}; }
  static LeftBlock left_in_place(float* block, int64_t stride, int64_t, int64_t) { return {block, stride, 1}; }
  static LeftBlock left_across(const float* block, int64_t stride, int64_t, int64_t, float*) {
    return {block, 1, stride};
  }
};

// All rows of one panel: in tiles, and the rest in halves. Each sum has the same order in whatever tile it is.
template <class Numbers, int vectors>
HWY_INLINE void multiply_panel(LeftBlock a, int64_t rows, const float* b, int64_t b_width, int64_t steps, bool add,
                               float* c, int64_t c_stride) {
  constexpr int most = vectors <= panel_vectors / 2 ? 2 * tile_rows : tile_rows;
  int64_t row = 0;
  auto tiles = [&]<int count>(std::integral_constant<int, count>) {
    for (; row + count <= rows; row += count) {
      const LeftBlock from{a.data + row * a.row_stride, a.row_stride, a.step_stride};
      Numbers::template multiply_tile<count, vectors>(from, b, b_width, steps, add, c + row * c_stride, c_stride);
    }
  };
  tiles(std::integral_constant<int, most>());
  tiles(std::integral_constant<int, 4>());
  tiles(std::integral_constant<int, 2>());
  tiles(std::integral_constant<int, 1>());
}

// A part of the right operand, in elements; first_column is where a panel begins, first_step is even.
struct PanelPart {
  int64_t first_step, steps, first_column, columns;
};

// C (+)= A·B, C [rows, whole_vectors(part.columns)]. Columns beyond part.columns are whatever their panel holds.
template <class Numbers>
HWY_INLINE void multiply_block(LeftBlock a, int64_t rows, const Panels& b, PanelPart part, bool add, float* c,
                               int64_t c_stride) {
  const int64_t end = part.first_column + part.columns, steps = Numbers::steps(part.steps);
  for (int64_t column = part.first_column; column < end; column += panel_width()) {
    const int64_t width = b.width(column), used = HWY_MIN(width, whole_vectors(end - column));
    const float* from = b.panel(column) + Numbers::steps(part.first_step) * width;
    float* to = c + (column - part.first_column);
    switch (used / lanes_of_block()) {
      case 1:
        multiply_panel<Numbers, 1>(a, rows, from, width, steps, add, to, c_stride);
        break;
      case 2:
        multiply_panel<Numbers, 2>(a, rows, from, width, steps, add, to, c_stride);
        break;
      case 3:
        multiply_panel<Numbers, HWY_MIN(3, panel_vectors)>(a, rows, from, width, steps, add, to, c_stride);
        break;
      default:
        multiply_panel<Numbers, panel_vectors>(a, rows, from, width, steps, add, to, c_stride);
    }
  }
}

}  // namespace glass::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
