// Sums, means and maxima.
#include "kernels/reduce.h"

#include "autograd/op_support.h"

namespace glass {

namespace {

Shape with_axis_one(Shape shape, int axis) {
  shape[axis] = 1;
  return shape;
}

Shape without_axis(const Shape& shape, int axis) {
  axis = shape.resolve_axis(axis);
  Shape out;
  for (int i = 0; i < shape.rank(); ++i) {
    if (i != axis) out.append(shape[i]);
  }
  return out;
}

Shape reduced_shape(const Shape& shape, int axis, bool keep_axis) {
  return keep_axis ? with_axis_one(shape, axis) : without_axis(shape, axis);
}

}  // namespace

Tensor sum(const Tensor& x, int axis, bool keep_axis) {
  require_float("sum", x);
  const Tensor dense = x.contiguous();
  const AxisSplit split = split_at(x.shape(), axis);
  Tensor y = Tensor::empty(reduced_shape(x.shape(), axis, keep_axis), x.dtype());  // y = Σ x
  for_float(
      x, [&]<class T>(T) { kernels::sum_axis(dense.data<T>(), split.outer, split.extent, split.inner, y.data<T>()); });
  return record("sum", y, {x}, [from = x.shape(), axis](const Tensor& dy) {
    return Tensors{dy.contiguous().reshaped(with_axis_one(from, axis)).expanded(from)};
  });
}

Tensor mean(const Tensor& x, int axis, bool keep_axis) {
  require_float("mean", x);
  return mul(sum(x, axis, keep_axis), 1.0 / static_cast<double>(x.size(axis)));
}

Tensor max(const Tensor& x, int axis, bool keep_axis) {
  require_float("max", x);
  if (x.size(axis) == 0)
    throw ShapeError("max: axis " + std::to_string(axis) + " of " + x.shape().text() + " is empty");
  const Tensor dense = x.contiguous();
  const AxisSplit split = split_at(x.shape(), axis);
  Tensor y = Tensor::empty(reduced_shape(x.shape(), axis, keep_axis), x.dtype());  // y = x[index of the first maximum]
  Tensor index = Tensor::empty({split.outer, split.inner}, DType::i64);
  for_float(x, [&]<class T>(T) {
    kernels::max_axis(dense.data<T>(), split.outer, split.extent, split.inner, y.data<T>(), index.data<int64_t>());
  });
  return record("max", y, {x}, [index = save(index), from = x.shape(), split](const Tensor& dy) {
    const Tensor upstream = dy.contiguous();
    Tensor dx = Tensor::zeros(from, dy.dtype());
    for_float(dy, [&]<class T>(T) {
      for (Dim place = 0; place < split.outer * split.inner; ++place) {
        const Dim o = place / split.inner, i = place % split.inner, best = index->data<int64_t>()[place];
        dx.data<T>()[(o * split.extent + best) * split.inner + i] = upstream.data<T>()[place];
      }
    });
    return Tensors{dx};
  });
}

namespace {

Tensor flat(const Tensor& x) { return reshape(x, {x.numel()}); }

}  // namespace

Tensor sum(const Tensor& x) { return sum(flat(x), 0); }
Tensor mean(const Tensor& x) { return mean(flat(x), 0); }
Tensor max(const Tensor& x) { return max(flat(x), 0); }

}  // namespace glass
