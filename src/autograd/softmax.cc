// Softmax, masked or not, and log-softmax, over the last axis.
#include "kernels/softmax.h"

#include "autograd/op_support.h"

namespace glass {

namespace {

// Where the mask row of each score row begins, up to three leading axes; a mask of more must be dense.
kernels::KeepRows keep_rows(const Tensor& x, const Tensor& keep) {
  kernels::KeepRows out;
  if (!keep.defined()) return out;
  const kernels::Layout layout = broadcast_layout(keep, x.shape());
  out.data = keep.data<bool>();
  out.column_stride = layout.strides[layout.rank - 1];
  if (x.rank() > 4) {
    out.extents[2] = x.numel() / std::max<Dim>(1, x.size(-1));
    out.strides[2] = x.size(-1);
    return out;
  }
  for (int axis = layout.rank - 2, to = 2; axis >= 0; --axis, --to) {
    out.extents[to] = layout.extents[axis];
    out.strides[to] = layout.strides[axis];
  }
  return out;
}

Tensor checked_mask(const Tensor& x, const Tensor& keep) {
  if (!keep.defined()) return keep;
  if (keep.dtype() != DType::boolean) {
    throw TypeError("softmax: the mask is bool, got " + std::string(dtype_name(keep.dtype())));
  }
  if (!(broadcast_shapes("softmax", x.shape(), keep.shape()) == x.shape())) {
    throw ShapeError("softmax: a mask of shape " + keep.shape().text() + " does not broadcast to " + x.shape().text());
  }
  return x.rank() > 4 ? keep.expanded(x.shape()).contiguous() : keep;
}

Dim row_length(const char* operation, const Tensor& x) {
  require_float(operation, x);
  if (x.rank() == 0) throw ShapeError(std::string(operation) + ": needs an axis to go over, got a scalar");
  return x.size(-1);
}

}  // namespace

Tensor softmax(const Tensor& x, const Tensor& keep) {
  const Dim n = row_length("softmax", x);
  const Tensor mask = checked_mask(x, keep);
  const Tensor dense = x.contiguous();
  Tensor y = Tensor::empty(x.shape(), x.dtype());  // y_j = exp(x_j) / Σ exp(x), over what is kept
  const Dim rows = n == 0 ? 0 : x.numel() / n;
  for_float(x, [&]<class T>(T) { kernels::softmax(dense.data<T>(), rows, n, keep_rows(x, mask), y.data<T>()); });
  return record("softmax", y, {x}, [y = save(y), rows, n](const Tensor& dy) {
    const Tensor upstream = dy.contiguous();
    Tensor dx = Tensor::empty(dy.shape(), dy.dtype());  // dx = y·(dy − Σ dy·y)
    for_float(dy,
              [&]<class T>(T) { kernels::softmax_backward(upstream.data<T>(), y->data<T>(), rows, n, dx.data<T>()); });
    return Tensors{dx};
  });
}

Tensor log_softmax(const Tensor& x) {
  const Dim n = row_length("log_softmax", x);
  const Tensor dense = x.contiguous();
  Tensor y = Tensor::empty(x.shape(), x.dtype());  // y_j = x_j − log Σ exp(x)
  const Dim rows = n == 0 ? 0 : x.numel() / n;
  for_float(x, [&]<class T>(T) { kernels::log_softmax(dense.data<T>(), rows, n, y.data<T>()); });
  return record("log_softmax", y, {x}, [y = save(y), rows, n](const Tensor& dy) {
    const Tensor upstream = dy.contiguous();
    Tensor dx = Tensor::empty(dy.shape(), dy.dtype());  // dx = dy − exp(y)·Σ dy
    for_float(dy, [&]<class T>(T) {
      kernels::log_softmax_backward(upstream.data<T>(), y->data<T>(), rows, n, dx.data<T>());
    });
    return Tensors{dx};
  });
}

}  // namespace glass
