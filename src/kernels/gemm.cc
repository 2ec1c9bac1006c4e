#include "kernels/gemm.h"

#include <dnnl.h>

#include <algorithm>
#include <string>

#include "glassformer/base/error.h"
#include "glassformer/base/isa.h"
#include "glassformer/base/threads.h"
#include "kernels/dispatch.h"
#include "kernels/gemm_blocks.h"
#include "kernels/gemm_tiles.h"

namespace glass::kernels {

namespace {

constexpr int64_t worth_blocks = 1 << 18;  // multiplications: packing is little beside them

// By the calling thread alone.
void multiply(GemmSizes s, float alpha, Matrix<float> a, Matrix<float> b, float beta, float* c, int64_t leading_c) {
  if (s.k == 0) {  // oneDNN refuses it
    plain::gemm(s, alpha, a, b, beta, c, leading_c);
    return;
  }
  if (isa() == Isa::avx2 && alpha == 1 && (beta == 0 || beta == 1) && s.m * s.n * s.k >= worth_blocks) {
    gemm_blocks(s, a, b, beta == 1, c, leading_c);
    return;
  }
  const auto status = dnnl_sgemm(a.transposed ? 'T' : 'N', b.transposed ? 'T' : 'N', s.m, s.n, s.k, alpha, a.data,
                                 a.leading, b.data, b.leading, beta, c, leading_c);
  if (status != dnnl_success) {
    throw SystemError("matrix product: oneDNN failed with status " + std::to_string(static_cast<int>(status)));
  }
}

void multiply(GemmSizes s, double alpha, Matrix<double> a, Matrix<double> b, double beta, double* c,
              int64_t leading_c) {
  plain::gemm(s, alpha, a, b, beta, c, leading_c);
}

template <class T>
void multiply_in_tiles(GemmSizes sizes, T alpha, Matrix<T> a, Matrix<T> b, T beta, T* c, int64_t leading_c) {
  for_each_tile(sizes, a, b, c, leading_c, [&](GemmSizes s, Matrix<T> tile_a, Matrix<T> tile_b, T* tile_c) {
    multiply(s, alpha, tile_a, tile_b, beta, tile_c, leading_c);
  });
}

}  // namespace

void gemm(GemmSizes sizes, float alpha, Matrix<float> a, Matrix<float> b, float beta, float* c, int64_t leading_c) {
  apply_isa();
  multiply_in_tiles(sizes, alpha, a, b, beta, c, leading_c);
}

void gemm(GemmSizes sizes, double alpha, Matrix<double> a, Matrix<double> b, double beta, double* c,
          int64_t leading_c) {
  multiply_in_tiles(sizes, alpha, a, b, beta, c, leading_c);
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
      multiply_in_tiles(s, alpha, shifted(a, offsets.a[i]), shifted(b, offsets.b[i]), beta, c + offsets.c[i],
                        leading_c);
    }
    return;
  }
  parallel_for(batch, std::max<int64_t>(1, work_of_a_chunk / work), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      multiply(s, alpha, shifted(a, offsets.a[i]), shifted(b, offsets.b[i]), beta, c + offsets.c[i], leading_c);
    }
  });
}

template void gemm_batched(int64_t, BatchOffsets, GemmSizes, float, Matrix<float>, Matrix<float>, float, float*,
                           int64_t);
template void gemm_batched(int64_t, BatchOffsets, GemmSizes, double, Matrix<double>, Matrix<double>, double, double*,
                           int64_t);

}  // namespace glass::kernels
