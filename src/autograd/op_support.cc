#include "autograd/op_support.h"

#include "kernels/elementwise.h"

namespace glass {

void require_float(const char* operation, const Tensor& x) {
  if (x.dtype() == DType::f32 || x.dtype() == DType::f64) return;
  throw TypeError(std::string(operation) + ": takes float32 or float64, got " + std::string(dtype_name(x.dtype())) +
                  " of shape " + x.shape().text());
}

void require_same_float(const char* operation, const Tensor& a, const Tensor& b) {
  require_float(operation, a);
  require_float(operation, b);
  if (a.dtype() == b.dtype()) return;
  throw TypeError(std::string(operation) + ": element types differ, " + std::string(dtype_name(a.dtype())) + " " +
                  a.shape().text() + " and " + std::string(dtype_name(b.dtype())) + " " + b.shape().text());
}

kernels::Layout broadcast_layout(const Tensor& x, const Shape& shape) {
  kernels::Layout layout;
  layout.rank = shape.rank();
  const int added = shape.rank() - x.rank();
  for (int axis = 0; axis < shape.rank(); ++axis) {
    layout.extents[axis] = shape[axis];
    const bool broadcast = axis < added || (x.size(axis - added) == 1 && shape[axis] != 1);
    layout.strides[axis] = broadcast ? 0 : x.strides()[axis - added];
  }
  return layout;
}

Tensor sum_to_shape(const Tensor& grad, const Shape& shape) {
  if (grad.shape() == shape) return grad;
  Tensor out = Tensor::empty(shape, grad.dtype());
  const Tensor dense = grad.contiguous();
  const kernels::Layout layout = broadcast_layout(out, grad.shape());
  for_float(grad, [&]<class T>(T) { kernels::sum_to(dense.data<T>(), layout, out.numel(), out.data<T>()); });
  return out;
}

Tensor as_rows(const Tensor& x) {
  Dim rows = 1;
  for (int axis = 0; axis + 1 < x.rank(); ++axis) rows *= x.size(axis);
  return x.contiguous().reshaped({rows, x.size(-1)});
}

Tensor dense_ids(const char* operation, const Tensor& ids) {
  if (ids.dtype() != DType::i32 && ids.dtype() != DType::i64) {
    throw TypeError(std::string(operation) + ": indices are int32 or int64, got " +
                    std::string(dtype_name(ids.dtype())));
  }
  return ids.to(DType::i64).contiguous();
}

AxisSplit split_at(const Shape& shape, int axis) {
  axis = shape.resolve_axis(axis);
  AxisSplit split;
  for (int i = 0; i < shape.rank(); ++i) (i < axis ? split.outer : i == axis ? split.extent : split.inner) *= shape[i];
  return split;
}

}  // namespace glass
