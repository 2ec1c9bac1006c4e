// Products of dense matrices for the operations, in the numbers that the PrecisionScope asks for.
#pragma once

#include "glassformer/tensor/tensor.h"
#include "kernels/gemm.h"

namespace glass {

// The type that operands like x are multiplied in: bf16 for float32 in a bf16 scope, else x's own.
DType product_type(const Tensor& x);

struct Operand {
  const Tensor& tensor;  // dense, of two axes
  bool is_transposed = false;

  Dim rows() const { return tensor.size(is_transposed ? 1 : 0); }
  Dim columns() const { return tensor.size(is_transposed ? 0 : 1); }
  template <class T>
  kernels::Matrix<T> matrix() const {
    return {tensor.data<T>(), std::max<Dim>(1, tensor.size(1)), is_transposed};
  }
};

inline Operand transposed(const Tensor& x) { return {x, true}; }

// a·b, of bf16 as float32.
Tensor product(const Operand& a, const Operand& b);
// y = a·b or y += a·b; y dense [rows of a, columns of b].
void product_into(const Operand& a, const Operand& b, bool add, Tensor& y);

}  // namespace glass
