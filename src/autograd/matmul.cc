// Matrix products with their derivatives. Operands may be transposed views: the kernels take them as they are.
#include <utility>

#include "autograd/op_support.h"
#include "kernels/gemm.h"

namespace glass {

namespace {

// How the last two axes of a view lie in memory; a copy where they are neither rows nor columns.
template <class T>
struct Operand {
  Tensor tensor;  // keeps a copy alive
  kernels::Matrix<T> matrix;

  explicit Operand(const Tensor& x) : tensor(x) {
    if (!lies_flat(x)) tensor = x.contiguous();
    const Dim rows = tensor.size(-2), columns = tensor.size(-1);
    const Dim row_stride = tensor.strides()[-2], column_stride = tensor.strides()[-1];
    const bool by_rows = (column_stride == 1 || columns == 1) && (row_stride >= columns || rows == 1);
    const Dim leading = by_rows ? std::max(row_stride, columns) : std::max(column_stride, rows);
    matrix = {std::as_const(tensor).template data<T>(), std::max<Dim>(1, leading), !by_rows};
  }

 private:
  static bool lies_flat(const Tensor& x) {
    const Dim rows = x.size(-2), columns = x.size(-1), rs = x.strides()[-2], cs = x.strides()[-1];
    const bool by_rows = (cs == 1 || columns == 1) && (rs >= columns || rows == 1);
    return by_rows || ((rs == 1 || rows == 1) && (cs >= rows || columns == 1));
  }
};

Shape leading_axes(const Shape& shape) {
  Shape out;
  for (int axis = 0; axis + 2 < shape.rank(); ++axis) out.append(shape[axis]);
  return out;
}

// The offset of each matrix of x when its leading axes are broadcast to `batch`.
std::vector<int64_t> matrix_offsets(const Tensor& x, const Shape& batch) {
  std::vector<int64_t> offsets(static_cast<size_t>(batch.numel()));
  const int added = batch.rank() - (x.rank() - 2);
  for (size_t i = 0; i < offsets.size(); ++i) {
    auto rest = static_cast<Dim>(i);
    for (int axis = batch.rank() - 1; axis >= 0; --axis) {
      const Dim index = rest % batch[axis];
      rest /= batch[axis];
      if (axis >= added && x.size(axis - added) != 1) offsets[i] += index * x.strides()[axis - added];
    }
  }
  return offsets;
}

// Whether the whole batch is one matrix of more rows: x [.., M, K] dense in its leading axes, with one right operand.
bool is_one_product(const Tensor& a, const Tensor& b) { return b.rank() == 2 && a.rank() > 2 && a.is_contiguous(); }

// a·b without recording.
Tensor product(const Tensor& a, const Tensor& b) {
  if (is_one_product(a, b)) {
    Shape shape = a.shape();
    shape[-1] = b.size(1);
    return product(as_rows(a), b).reshaped(shape);
  }
  const Shape batch = broadcast_shapes("matmul", leading_axes(a.shape()), leading_axes(b.shape()));
  Shape shape = batch;
  shape.append(a.size(-2));
  shape.append(b.size(-1));
  Tensor out = Tensor::empty(shape, a.dtype());
  for_float(a, [&]<class T>(T) {
    const Operand<T> left(a), right(b);
    const auto from_a = matrix_offsets(left.tensor, batch), from_b = matrix_offsets(right.tensor, batch);
    std::vector<int64_t> to(from_a.size());
    for (size_t i = 0; i < to.size(); ++i) to[i] = static_cast<int64_t>(i) * a.size(-2) * b.size(-1);
    kernels::gemm_batched<T>(batch.numel(), {from_a.data(), from_b.data(), to.data()},
                             {a.size(-2), b.size(-1), a.size(-1)}, T{1}, left.matrix, right.matrix, T{0}, out.data<T>(),
                             b.size(-1));
  });
  return out;
}

// aᵀ·dy, summed over the leading axes that b does not have.
Tensor right_grad(const Tensor& a, const Tensor& dy, const Shape& b) {
  if (b.rank() == 2 && a.is_contiguous()) return product(as_rows(a).transposed(0, 1), as_rows(dy));
  return sum_to_shape(product(a.transposed(-2, -1), dy), b);
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b) {
  require_same_float("matmul", a, b);
  if (a.rank() < 2 || b.rank() < 2) {
    throw ShapeError("matmul: both operands need two axes or more, got " + a.shape().text() + " x " + b.shape().text());
  }
  if (a.size(-1) != b.size(-2)) {
    throw ShapeError("matmul: inner dimensions differ, " + a.shape().text() + " x " + b.shape().text());
  }
  Tensor y = product(a, b);  // y = a·b
  if (!needs_grad({a, b})) return record("matmul", y, {a, b}, {});
  const bool to_a = needs_grad({a}), to_b = needs_grad({b});
  return record("matmul", y, {a, b},
                [a = save(to_b ? a : Tensor()), b = save(to_a ? b : Tensor()), to_a, to_b, shape_a = a.shape(),
                 shape_b = b.shape()](const Tensor& dy) {
                  return Tensors{to_a ? sum_to_shape(product(dy, b->transposed(-2, -1)), shape_a) : Tensor(),
                                 to_b ? right_grad(*a, dy, shape_b) : Tensor()};
                });
}

}  // namespace glass
