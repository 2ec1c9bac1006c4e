// Cuts a matrix product into tiles that depend on its sizes alone, and shares them among the threads.
#pragma once

#include <algorithm>

#include "glassformer/base/threads.h"
#include "kernels/gemm.h"

namespace glass::kernels {

struct GemmTile {
  int64_t rows, columns;
};

// Four tiles, or eight of a large product: enough for a few threads, and so few that packing the operands for each is
// little. Only rows are cut, since the right operand's columns want to be many; alike, so that threads end together;
// and by eights, in which oneDNN takes them. A product of few rows (decoding) has its columns cut instead, if it is
// long enough to pay for the sharing.
inline GemmTile gemm_tile(GemmSizes s) {
  constexpr int64_t few_rows = 96, worth_sharing = 1 << 21, large = 1 << 29;
  auto part = [](int64_t extent, int64_t parts, int64_t multiple) {
    return std::max(multiple, ((extent + parts - 1) / parts + multiple - 1) / multiple * multiple);
  };
  const int64_t work = s.m * s.n * s.k;
  if (s.m > few_rows) return {part(s.m, work >= large && s.m >= 4 * few_rows ? 8 : 4, 8), s.n};
  return {few_rows / 2, work >= worth_sharing ? std::clamp<int64_t>(part(s.n, 8, 64), 256, 1024) : s.n};
}

template <class T>
Matrix<T> rows_from(Matrix<T> a, int64_t row) {
  a.data += a.transposed ? row : row * a.leading;
  return a;
}

template <class T>
Matrix<T> columns_from(Matrix<T> b, int64_t column) {
  b.data += b.transposed ? column * b.leading : column;
  return b;
}

// Calls tile(sizes, a, b, c) for each tile of C, with the operands and the output from that tile on; one thread each.
template <class T, class Out, class Tile>
void for_each_tile(GemmSizes s, Matrix<T> a, Matrix<T> b, Out* c, int64_t leading_c, Tile&& tile) {
  if (s.m == 0 || s.n == 0) return;
  const GemmTile size = gemm_tile(s);
  const int64_t row_tiles = (s.m + size.rows - 1) / size.rows, column_tiles = (s.n + size.columns - 1) / size.columns;
  parallel_for(row_tiles * column_tiles, 1, [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
      const int64_t i = t % row_tiles * size.rows, j = t / row_tiles * size.columns;
      const GemmSizes part{std::min(size.rows, s.m - i), std::min(size.columns, s.n - j), s.k};
      tile(part, rows_from(a, i), columns_from(b, j), c + i * leading_c + j);
    }
  });
}

}  // namespace glass::kernels
