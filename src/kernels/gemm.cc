#include "kernels/gemm.h"

#include <dnnl.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "glassformer/base/error.h"
#include "glassformer/base/threads.h"
#include "kernels/dispatch.h"

namespace glass::kernels {

namespace {

// One tile, by the calling thread.
void tile(GemmSizes s, float alpha, Matrix<float> a, Matrix<float> b, float beta, float* c, int64_t leading_c) {
  if (s.k == 0) {
    plain::gemm(s, alpha, a, b, beta, c, leading_c);
    return;
  }
  const auto status = dnnl_sgemm(a.transposed ? 'T' : 'N', b.transposed ? 'T' : 'N', s.m, s.n, s.k, alpha, a.data,
                                 a.leading, b.data, b.leading, beta, c, leading_c);
  if (status != dnnl_success) {
    throw SystemError("matrix product: oneDNN failed with status " + std::to_string(static_cast<int>(status)));
  }
}

void tile(GemmSizes s, double alpha, Matrix<double> a, Matrix<double> b, double beta, double* c, int64_t leading_c) {
  plain::gemm(s, alpha, a, b, beta, c, leading_c);
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

// About eight tiles along the rows: small enough to share, large enough that packing B for each is little.
int64_t tile_rows(int64_t m) {
  constexpr int64_t tiles = 8, least = 48, multiple = 48;
  return std::max(least, ((m + tiles - 1) / tiles + multiple - 1) / multiple * multiple);
}

constexpr int64_t tile_columns = 1024;

template <class T>
void tiled(GemmSizes s, T alpha, Matrix<T> a, Matrix<T> b, T beta, T* c, int64_t leading_c) {
  if (s.m == 0 || s.n == 0) return;
  const int64_t rows = tile_rows(s.m);
  const int64_t row_tiles = (s.m + rows - 1) / rows, column_tiles = (s.n + tile_columns - 1) / tile_columns;
  parallel_for(row_tiles * column_tiles, 1, [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
      const int64_t i = t % row_tiles * rows, j = t / row_tiles * tile_columns;
      const GemmSizes part{std::min(rows, s.m - i), std::min(tile_columns, s.n - j), s.k};
      tile(part, alpha, rows_from(a, i), columns_from(b, j), beta, c + i * leading_c + j, leading_c);
    }
  });
}

}  // namespace

void gemm(GemmSizes sizes, float alpha, Matrix<float> a, Matrix<float> b, float beta, float* c, int64_t leading_c) {
  apply_isa();
  tiled(sizes, alpha, a, b, beta, c, leading_c);
}

void gemm(GemmSizes sizes, double alpha, Matrix<double> a, Matrix<double> b, double beta, double* c,
          int64_t leading_c) {
  tiled(sizes, alpha, a, b, beta, c, leading_c);
}

template <class T>
void gemm_batched(int64_t batch, BatchOffsets offsets, GemmSizes s, T alpha, Matrix<T> a, Matrix<T> b, T beta, T* c,
                  int64_t leading_c) {
  apply_isa();
  if (s.m == 0 || s.n == 0) return;
  auto shifted = [](Matrix<T> matrix, int64_t offset) {
    matrix.data += offset;
    return matrix;
  };
  constexpr int64_t work_of_a_chunk = 1 << 20;  // multiplications
  const int64_t work = std::max<int64_t>(1, s.m * s.n * std::max<int64_t>(1, s.k));
  if (batch == 1 || work >= work_of_a_chunk * 16) {
    for (int64_t i = 0; i < batch; ++i) {
      tiled(s, alpha, shifted(a, offsets.a[i]), shifted(b, offsets.b[i]), beta, c + offsets.c[i], leading_c);
    }
    return;
  }
  parallel_for(batch, std::max<int64_t>(1, work_of_a_chunk / work), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      tile(s, alpha, shifted(a, offsets.a[i]), shifted(b, offsets.b[i]), beta, c + offsets.c[i], leading_c);
    }
  });
}

template void gemm_batched(int64_t, BatchOffsets, GemmSizes, float, Matrix<float>, Matrix<float>, float, float*,
                           int64_t);
template void gemm_batched(int64_t, BatchOffsets, GemmSizes, double, Matrix<double>, Matrix<double>, double, double*,
                           int64_t);

}  // namespace glass::kernels
