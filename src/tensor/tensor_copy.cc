// Copies between tensors: dense or strided, with conversion of types.
#include "glassformer/base/error.h"
#include "kernels/copy.h"
#include "tensor/tensor_impl.h"

namespace glass {

namespace {

kernels::Layout layout(const Tensor& tensor) {
  kernels::Layout out;
  out.rank = tensor.rank();
  for (int axis = 0; axis < out.rank; ++axis) {
    out.extents[axis] = tensor.size(axis);
    out.strides[axis] = tensor.strides()[axis];
  }
  return out;
}

}  // namespace

void Tensor::copy_from(const Tensor& source) {
  const Tensor from = source.expanded(shape());
  dispatch(dtype(), [&]<class To>(To*) {
    dispatch(from.dtype(),
             [&]<class From>(From*) { kernels::copy(from.data<From>(), layout(from), data<To>(), layout(*this)); });
  });
  mark_changed();
}

void Tensor::fill(double value) {
  const Tensor source = from({value}, {});
  copy_from(source);
}

Tensor Tensor::clone() const {
  Tensor out = empty(shape(), dtype());
  out.copy_from(*this);
  return out;
}

Tensor Tensor::contiguous() const { return is_contiguous() ? *this : clone(); }

Tensor Tensor::to(DType type) const {
  if (type == dtype()) return *this;
  Tensor out = empty(shape(), type);
  out.copy_from(*this);
  return out;
}

std::vector<double> Tensor::to_vector() const {
  const Tensor dense = to(DType::f64).contiguous();
  return {dense.data<double>(), dense.data<double>() + dense.numel()};
}

}  // namespace glass
