// Matrix products, row-major: C = alpha·op(A)·op(B) + beta·C with op(A) [m,k], op(B) [k,n], C [m,n].
//
// oneDNN computes them (large ones of float32 with AVX2: gemm_blocks.h), but its own threading would let the number of
// threads decide the bits. So the work is cut here into tiles fixed by m, n and k alone, each a product by one thread.
#pragma once

#include <cstdint>

#include "glassformer/base/bfloat16.h"

namespace glass::kernels {

template <class T>
struct Matrix {
  const T* data;
  int64_t leading;  // elements from one stored row to the next
  bool transposed;  // the stored matrix is op(A)ᵀ
};

struct GemmSizes {
  int64_t m, n, k;
};

// C has `leading_c` elements from row to row. With beta 0, C is not read.
void gemm(GemmSizes sizes, float alpha, Matrix<float> a, Matrix<float> b, float beta, float* c, int64_t leading_c);
void gemm(GemmSizes sizes, double alpha, Matrix<double> a, Matrix<double> b, double beta, double* c, int64_t leading_c);

// bf16 operands, products and sums in float32; beta is 0 or 1. Hardware does it where has_bf16_products() (base/isa.h);
// elsewhere the operands are widened, which gives the same but for the order of the sums.
void gemm(GemmSizes sizes, Matrix<bfloat16> a, Matrix<bfloat16> b, float beta, float* c, int64_t leading_c);

// `batch` products of the same sizes; offsets[i] is added to the pointers of product i.
struct BatchOffsets {
  const int64_t *a, *b, *c;
};
template <class T>
void gemm_batched(int64_t batch, BatchOffsets offsets, GemmSizes sizes, T alpha, Matrix<T> a, Matrix<T> b, T beta, T* c,
                  int64_t leading_c);

namespace plain {

// The definition.
template <class T>
void gemm(GemmSizes s, T alpha, Matrix<T> a, Matrix<T> b, T beta, T* c, int64_t leading_c) {
  const int64_t a_row = a.transposed ? 1 : a.leading, a_column = a.transposed ? a.leading : 1;
  const int64_t b_row = b.transposed ? 1 : b.leading, b_column = b.transposed ? b.leading : 1;
  for (int64_t i = 0; i < s.m; ++i) {
    for (int64_t j = 0; j < s.n; ++j) {
      T sum = 0;
      for (int64_t l = 0; l < s.k; ++l) sum += a.data[i * a_row + l * a_column] * b.data[l * b_row + j * b_column];
      T& out = c[i * leading_c + j];
      out = alpha * sum + (beta == 0 ? T{0} : beta * out);
    }
  }
}

}  // namespace plain
}  // namespace glass::kernels
