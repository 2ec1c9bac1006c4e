// Products of float32 matrices for AVX2, where oneDNN has two ways: one copies its operands, the other reads them where
// they lie, and is taken wherever a tile has less than some 530 rows or columns. Where the stored rows are a power of
// two apart, as those of a Transformer are, it comes down to a third of what the processor can do.
#pragma once

#include "kernels/gemm.h"

namespace glass::kernels {

// C = A·B, or C += A·B, by the calling thread. Each element is summed up in the same order whatever the sizes but k.
void gemm_blocks(GemmSizes sizes, Matrix<float> a, Matrix<float> b, bool add, float* c, int64_t leading_c);

}  // namespace glass::kernels
