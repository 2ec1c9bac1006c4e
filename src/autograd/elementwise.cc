// Element-wise operations with their derivatives.
#include "kernels/elementwise.h"

#include "autograd/kept.h"
#include "kernels/unary.h"

namespace glass {

namespace {

Tensor broadcast_binary(const char* operation, kernels::Binary op, const Tensor& a, const Tensor& b) {
  require_same_float(operation, a, b);
  const Shape shape = broadcast_shapes(operation, a.shape(), b.shape());
  Tensor out = Tensor::empty(shape, a.dtype());
  for_float(a, [&]<class T>(T) {
    kernels::binary(op, a.data<T>(), broadcast_layout(a, shape), b.data<T>(), broadcast_layout(b, shape),
                    out.data<T>());
  });
  return out;
}

}  // namespace

Tensor add(const Tensor& a, const Tensor& b) {
  Tensor y = broadcast_binary("add", kernels::Binary::add, a, b);  // y = a + b
  return record("add", y, {a, b}, [sa = a.shape(), sb = b.shape()](const Tensor& dy) {
    return Tensors{sum_to_shape(dy, sa), sum_to_shape(dy, sb)};
  });
}

Tensor sub(const Tensor& a, const Tensor& b) {
  Tensor y = broadcast_binary("sub", kernels::Binary::sub, a, b);  // y = a − b
  return record("sub", y, {a, b}, [sa = a.shape(), sb = b.shape()](const Tensor& dy) {
    return Tensors{sum_to_shape(dy, sa), neg(sum_to_shape(dy, sb))};
  });
}

Tensor mul(const Tensor& a, const Tensor& b) {
  Tensor y = broadcast_binary("mul", kernels::Binary::mul, a, b);  // y = a·b
  if (!needs_grad({a, b})) return record("mul", y, {a, b}, {});
  const bool to_a = needs_grad({a}), to_b = needs_grad({b});
  return record("mul", y, {a, b},
                [a = save(to_b ? a : Tensor()), b = save(to_a ? b : Tensor()), to_a, to_b, sa = a.shape(),
                 sb = b.shape()](const Tensor& dy) {
                  return Tensors{to_a ? sum_to_shape(mul(dy, *b), sa) : Tensor(),
                                 to_b ? sum_to_shape(mul(dy, *a), sb) : Tensor()};
                });
}

Tensor div(const Tensor& a, const Tensor& b) {
  Tensor y = broadcast_binary("div", kernels::Binary::div, a, b);  // y = a/b
  if (!needs_grad({a, b})) return record("div", y, {a, b}, {});
  const bool to_b = needs_grad({b});
  return record("div", y, {a, b}, [y = save(y), b = save(b), sa = a.shape(), to_b](const Tensor& dy) {
    const Tensor da = div(dy, *b);  // dy/b; and db = −dy·a/b² = −(dy/b)·y
    return Tensors{sum_to_shape(da, sa), to_b ? neg(sum_to_shape(mul(da, *y), b->shape())) : Tensor()};
  });
}

namespace {

Tensor scale_add(const Tensor& x, double factor, double addend) {
  const Tensor dense = x.contiguous();
  Tensor y = Tensor::empty(x.shape(), x.dtype());
  for_float(x, [&]<class T>(T) {
    kernels::scale_add(dense.data<T>(), dense.numel(), static_cast<T>(factor), static_cast<T>(addend), y.data<T>());
  });
  return y;
}

}  // namespace

Tensor add(const Tensor& a, double b) {
  require_float("add", a);
  return record("add", scale_add(a, 1, b), {a}, [](const Tensor& dy) { return Tensors{dy}; });  // y = a + b
}

Tensor mul(const Tensor& a, double b) {
  require_float("mul", a);
  return record("mul", scale_add(a, b, 0), {a}, [b](const Tensor& dy) { return Tensors{mul(dy, b)}; });  // y = a·b
}

Tensor neg(const Tensor& x) {
  require_float("neg", x);
  return record("neg", scale_add(x, -1, 0), {x}, [](const Tensor& dy) { return Tensors{neg(dy)}; });  // y = −x
}

namespace {

// y = f(x); dx = dy·f'(x). The formulas are in kernels/unary.h.
Tensor unary_operation(const char* operation, kernels::Unary f, const Tensor& x) {
  require_float(operation, x);
  const Tensor dense = x.contiguous();
  Tensor y = Tensor::empty(x.shape(), x.dtype());
  for_float(x, [&]<class T>(T) { kernels::unary(f, dense.data<T>(), dense.numel(), y.data<T>()); });
  if (!needs_grad({x})) return record(operation, y, {x}, {});
  const Saved saved = save(kernels::derivative_needs_output(f) ? y : dense);
  return record(operation, y, {x}, [f, saved](const Tensor& dy) {
    const Tensor upstream = dy.contiguous();
    Tensor dx = Tensor::empty(dy.shape(), dy.dtype());
    for_float(dy, [&]<class T>(T) {
      kernels::unary_backward(f, upstream.data<T>(), saved->template data<T>(), dx.numel(), dx.data<T>());
    });
    return Tensors{dx};
  });
}

}  // namespace

Tensor exp(const Tensor& x) { return unary_operation("exp", kernels::Unary::exp, x); }
Tensor log(const Tensor& x) { return unary_operation("log", kernels::Unary::log, x); }
Tensor sqrt(const Tensor& x) { return unary_operation("sqrt", kernels::Unary::sqrt, x); }
Tensor tanh(const Tensor& x) { return unary_operation("tanh", kernels::Unary::tanh, x); }
Tensor sigmoid(const Tensor& x) { return unary_operation("sigmoid", kernels::Unary::sigmoid, x); }

Tensor relu(const Tensor& x) {
  require_float("relu", x);
  const Tensor dense = x.contiguous();
  Tensor y = Tensor::empty(x.shape(), x.dtype());
  Kept kept = needs_grad({x}) ? Kept(x.shape()) : Kept();  // what is above 0
  const RowsOf rows(x.shape());
  for_float(x, [&]<class T>(T) { kernels::relu(dense.data<T>(), rows.count, rows.width, y.data<T>(), kept.bits()); });
  return record("relu", y, {x},
                [kept](const Tensor& dy) { return Tensors{kept.where(dy, 1)}; });  // dx = x > 0 ? dy : 0
}

Tensor gelu(const Tensor& x, GeluForm form) {
  return unary_operation("gelu", form == GeluForm::exact ? kernels::Unary::gelu : kernels::Unary::gelu_tanh, x);
}

namespace {

Tensor fill_where_not(const Tensor& x, const Tensor& keep, double value) {
  const Tensor dense = x.contiguous();
  Tensor y = Tensor::empty(x.shape(), x.dtype());
  const kernels::Layout layout = broadcast_layout(keep, x.shape());
  for_float(x, [&]<class T>(T) {
    kernels::masked_fill(dense.data<T>(), keep.data<bool>(), layout, static_cast<T>(value), y.data<T>());
  });
  return y;
}

}  // namespace

Tensor masked_fill(const Tensor& x, const Tensor& keep, double value) {
  require_float("masked_fill", x);
  if (keep.dtype() != DType::boolean) {
    throw TypeError("masked_fill: the mask is bool, got " + std::string(dtype_name(keep.dtype())));
  }
  if (!(broadcast_shapes("masked_fill", x.shape(), keep.shape()) == x.shape())) {
    throw ShapeError("masked_fill: a mask of shape " + keep.shape().text() + " does not broadcast to " +
                     x.shape().text());
  }
  Tensor y = fill_where_not(x, keep, value);  // y = keep ? x : value
  return record("masked_fill", y, {x},
                [keep = save(keep)](const Tensor& dy) { return Tensors{fill_where_not(dy, *keep, 0)}; });
}

Tensor cast(const Tensor& x, DType dtype) {
  if (!is_floating(x.dtype()) || !is_floating(dtype)) {
    throw TypeError("cast: between floating types only, got " + std::string(dtype_name(x.dtype())) + " to " +
                    std::string(dtype_name(dtype)) + " (Tensor::to converts any type, without a gradient)");
  }
  if (x.dtype() == dtype) return x;
  return record("cast", x.to(dtype), {x}, [from = x.dtype()](const Tensor& dy) { return Tensors{dy.to(from)}; });
}

}  // namespace glass
