// Products with weights. Both operands are dense matrices, so unlike matmul() they can be rounded to bf16 on the way;
// the backward pass keeps what was rounded.
#include <utility>

#include "autograd/op_support.h"
#include "glassformer/autograd/precision.h"
#include "kernels/elementwise.h"
#include "kernels/gemm.h"

namespace glass {

namespace {
thread_local Precision precision_here = Precision::f32;
}

PrecisionScope::PrecisionScope(Precision precision) : outer_(precision_here) { precision_here = precision; }
PrecisionScope::~PrecisionScope() { precision_here = outer_; }
Precision precision() { return precision_here; }

namespace {

void check_linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  require_same_float("linear", x, weight);
  if (x.rank() < 1 || weight.rank() != 2 || x.size(-1) != weight.size(1)) {
    throw ShapeError("linear: input " + x.shape().text() + " does not fit weight " + weight.shape().text() +
                     " [out,in]");
  }
  if (bias.defined()) require_same_float("linear", x, bias);
  if (bias.defined() && !(bias.shape() == Shape{weight.size(0)})) {
    throw ShapeError("linear: bias " + bias.shape().text() + " does not fit weight " + weight.shape().text() +
                     " [out,in]");
  }
}

// The type that the operands are multiplied in.
DType operand_type(const Tensor& x) {
  return x.dtype() == DType::f32 && precision() == Precision::bf16 ? DType::bf16 : x.dtype();
}

struct Operand {
  const Tensor& tensor;  // dense, of two axes
  bool transposed = false;

  Dim rows() const { return tensor.size(transposed ? 1 : 0); }
  Dim columns() const { return tensor.size(transposed ? 0 : 1); }
  template <class T>
  kernels::Matrix<T> matrix() const {
    return {tensor.data<T>(), std::max<Dim>(1, tensor.size(1)), transposed};
  }
};

Operand transposed(const Tensor& x) { return {x, true}; }

// a·b, of bf16 as float32.
Tensor product(const Operand& a, const Operand& b) {
  const kernels::GemmSizes sizes{a.rows(), b.columns(), a.columns()};
  const Dim leading = std::max<Dim>(1, sizes.n);
  if (a.tensor.dtype() == DType::bf16) {
    Tensor y = Tensor::empty({sizes.m, sizes.n}, DType::f32);
    kernels::gemm(sizes, a.matrix<bfloat16>(), b.matrix<bfloat16>(), 0.0f, y.data<float>(), leading);
    return y;
  }
  Tensor y = Tensor::empty({sizes.m, sizes.n}, a.tensor.dtype());
  for_float(y,
            [&]<class T>(T) { kernels::gemm(sizes, T{1}, a.matrix<T>(), b.matrix<T>(), T{0}, y.data<T>(), leading); });
  return y;
}

// Into the product itself, which nobody holds yet.
void add_bias(Tensor& rows, const Tensor& bias) {
  for_float(rows, [&]<class T>(T) {
    T* y = rows.data<T>();
    kernels::binary(kernels::Binary::add, std::as_const(rows).data<T>(), broadcast_layout(rows, rows.shape()),
                    bias.data<T>(), broadcast_layout(bias, rows.shape()), y);
  });
}

}  // namespace

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  check_linear(x, weight, bias);
  const DType type = operand_type(x);
  const Tensor rows = as_rows(x).to(type);            // [N,in]
  const Tensor dense = weight.contiguous().to(type);  // [out,in]
  Tensor y = product({rows}, transposed(dense));      // y = x Wᵀ + b
  if (bias.defined()) add_bias(y, bias);
  Shape shape = x.shape();
  shape[-1] = weight.size(0);
  y = y.reshaped(shape);
  const Tensors inputs = bias.defined() ? Tensors{x, weight, bias} : Tensors{x, weight};
  if (!needs_grad(inputs)) return record("linear", y, inputs, {});
  const bool to_x = needs_grad({x}), to_weight = needs_grad({weight}), to_bias = needs_grad({bias});
  return record("linear", y, inputs,
                [rows = save(to_weight ? rows : Tensor()), weight = save(to_x ? dense : Tensor()), to_x, to_weight,
                 to_bias, in = x.shape(), type, count = inputs.size()](const Tensor& dy) {
                  const Tensor upstream = as_rows(dy), drows = upstream.to(type);  // [N,out]
                  Tensors grads(count);
                  if (to_x) grads[0] = product({drows}, {*weight}).reshaped(in);
                  if (to_weight) grads[1] = product(transposed(drows), {*rows});
                  if (to_bias) grads[2] = sum_to_shape(upstream, {upstream.size(1)});
                  return grads;
                });
}

}  // namespace glass
