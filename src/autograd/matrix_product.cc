#include "autograd/matrix_product.h"

#include "autograd/op_support.h"
#include "glassformer/autograd/precision.h"

namespace glass {

namespace {
thread_local Precision precision_here = Precision::f32;
}

PrecisionScope::PrecisionScope(Precision precision) : outer_(precision_here) { precision_here = precision; }
PrecisionScope::~PrecisionScope() { precision_here = outer_; }
Precision precision() { return precision_here; }

DType product_type(const Tensor& x) {
  return x.dtype() == DType::f32 && precision() == Precision::bf16 ? DType::bf16 : x.dtype();
}

Tensor product(const Operand& a, const Operand& b) {
  const DType type = a.tensor.dtype() == DType::bf16 ? DType::f32 : a.tensor.dtype();
  Tensor y = Tensor::empty({a.rows(), b.columns()}, type);
  product_into(a, b, false, y);
  return y;
}

void product_into(const Operand& a, const Operand& b, bool add, Tensor& y) {
  const kernels::GemmSizes sizes{a.rows(), b.columns(), a.columns()};
  const Dim leading = std::max<Dim>(1, sizes.n);
  if (a.tensor.dtype() == DType::bf16) {
    kernels::gemm(sizes, a.matrix<bfloat16>(), b.matrix<bfloat16>(), add ? 1.0f : 0.0f, y.data<float>(), leading);
    return;
  }
  for_float(y, [&]<class T>(T) {
    kernels::gemm(sizes, T{1}, a.matrix<T>(), b.matrix<T>(), add ? T{1} : T{0}, y.data<T>(), leading);
  });
}

}  // namespace glass
