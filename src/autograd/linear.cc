// Products with weights. Both operands are dense matrices, so unlike matmul() they can be rounded to bf16 on the way.
// The backward pass keeps the rounded input and rounds the weight anew, which costs less than a second copy of all
// weights is worth (docs/decisions/0011-memory-of-an-update.md).
#include <utility>

#include "autograd/matrix_product.h"
#include "autograd/op_support.h"
#include "kernels/elementwise.h"

namespace glass {

namespace {

void check_linear_shapes(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  if (x.rank() < 1 || weight.rank() != 2 || x.size(-1) != weight.size(1)) {
    throw ShapeError("linear: input " + x.shape().text() + " does not fit weight " + weight.shape().text() +
                     " [out,in]");
  }
  if (bias.defined()) require_same_float("linear", weight, bias);
  if (bias.defined() && !(bias.shape() == Shape{weight.size(0)})) {
    throw ShapeError("linear: bias " + bias.shape().text() + " does not fit weight " + weight.shape().text() +
                     " [out,in]");
  }
}

}  // namespace

void check_linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  require_same_float("linear", x, weight);
  check_linear_shapes(x, weight, bias);
}

Tensor rounded_for_products(const Tensor& x) {
  require_float("rounded_for_products", x);
  const DType type = product_type(x);
  if (type == x.dtype()) return x;
  // As if nothing had been rounded: bf16 stands for x in the products and is no step of the model's own.
  return record("rounded_for_products", x.detach().to(type), {x}, [](const Tensor& dy) { return Tensors{dy}; });
}

namespace {

// Into the product itself, which nobody holds yet.
void add_bias(Tensor& rows, const Tensor& bias) {
  for_float(rows, [&]<class T>(T) {
    T* y = rows.data<T>();
    kernels::binary(kernels::Binary::add, std::as_const(rows).data<T>(), broadcast_layout(rows, rows.shape()),
                    bias.data<T>(), broadcast_layout(bias, rows.shape()), y);
  });
}

// dW = dyᵀ x, or nothing where the leaf's own sum takes it.
Tensor weight_gradient(const Tensor& upstream, const Tensor& rows, const LeafGradient& leaf) {
  const bool taken = leaf.take(rows.dtype() == DType::f64 ? DType::f64 : DType::f32,
                               [&](Tensor& sum, bool add) { product_into(transposed(upstream), {rows}, add, sum); });
  return taken ? Tensor() : product(transposed(upstream), {rows});
}

}  // namespace

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const bool is_rounded = x.dtype() == DType::bf16 && weight.dtype() == DType::f32;
  if (!is_rounded) require_same_float("linear", x, weight);
  check_linear_shapes(x, weight, bias);
  const DType type = product_type(x);
  const Tensor rows = as_rows(x).to(type);                               // [N,in]
  Tensor y = product({rows}, transposed(weight.contiguous().to(type)));  // y = x Wᵀ + b
  if (bias.defined()) add_bias(y, bias);
  Shape shape = x.shape();
  shape[-1] = weight.size(0);
  y = y.reshaped(shape);
  const Tensors inputs = bias.defined() ? Tensors{x, weight, bias} : Tensors{x, weight};
  if (!needs_grad(inputs)) return record("linear", y, inputs, {});
  const bool to_x = needs_grad({x}), to_weight = needs_grad({weight}), to_bias = needs_grad({bias});
  return record("linear", y, inputs,
                [rows = save(to_weight ? rows : Tensor()), weight = save(to_x ? weight : Tensor()), to_x, to_weight,
                 to_bias, in = x.shape(), type, count = inputs.size(), leaf = LeafGradient(weight)](const Tensor& dy) {
                  const Tensor upstream = as_rows(dy), drows = upstream.to(type);  // [N,out]
                  Tensors grads(count);
                  if (to_x) grads[0] = product({drows}, {weight->contiguous().to(type)}).reshaped(in);
                  if (to_weight) grads[1] = weight_gradient(drows, *rows, leaf);
                  if (to_bias) grads[2] = sum_to_shape(upstream, {upstream.size(1)});
                  return grads;
                });
}

}  // namespace glass
