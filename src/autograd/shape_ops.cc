// Operations that change the shape only: views where the layout allows.
#include "autograd/op_support.h"

namespace glass {

namespace {

// Replaces an extent of −1 by what the number of elements leaves.
Shape resolve(const Tensor& x, Shape shape) {
  Dim known = 1;
  int open = -1;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (shape[axis] != -1) {
      if (shape[axis] < 0 || __builtin_mul_overflow(known, shape[axis], &known)) {
        throw ShapeError("reshape: " + x.shape().text() + " cannot become " + shape.text());
      }
    } else if (open < 0) {
      open = axis;
    } else {
      throw ShapeError("reshape: more than one extent of -1 in " + shape.text());
    }
  }
  if (open >= 0 && known > 0 && x.numel() % known == 0) shape[open] = x.numel() / known;
  if (open >= 0 && shape[open] == -1) {
    throw ShapeError("reshape: " + x.shape().text() + " cannot become " + shape.text());
  }
  return shape;
}

}  // namespace

Tensor reshape(const Tensor& x, const Shape& shape) {
  Tensor y = x.contiguous().reshaped(resolve(x, shape));
  return record("reshape", y, {x},
                [from = x.shape()](const Tensor& dy) { return Tensors{dy.contiguous().reshaped(from)}; });
}

Tensor transpose(const Tensor& x, int a, int b) {
  return record("transpose", x.transposed(a, b), {x},
                [a, b](const Tensor& dy) { return Tensors{dy.transposed(a, b)}; });
}

namespace {

Tensor permuted(const Tensor& x, const std::vector<int>& axes) {
  Shape shape, strides;
  for (const int axis : axes) {
    shape.append(x.size(axis));
    strides.append(x.strides()[axis]);
  }
  return x.view_as(shape, strides, 0);
}

}  // namespace

Tensor permute(const Tensor& x, const std::vector<int>& axes) {
  std::vector<int> inverse(axes.size(), -1);
  if (static_cast<int>(axes.size()) != x.rank()) {
    throw ShapeError("permute: " + std::to_string(axes.size()) + " axes for shape " + x.shape().text());
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    inverse[static_cast<size_t>(x.shape().resolve_axis(axes[i]))] = static_cast<int>(i);
  }
  for (const int axis : inverse) {
    if (axis < 0)
      throw ValueError("permute: an axis is named twice, another not at all, for shape " + x.shape().text());
  }
  return record("permute", permuted(x, axes), {x},
                [inverse](const Tensor& dy) { return Tensors{permuted(dy, inverse)}; });
}

Tensor slice(const Tensor& x, int axis, Dim begin, Dim end) {
  Tensor y = x.narrowed(axis, begin, end);
  return record("slice", y, {x}, [shape = x.shape(), axis, begin, end](const Tensor& dy) {
    Tensor dx = Tensor::zeros(shape, dy.dtype());
    dx.narrowed(axis, begin, end).copy_from(dy);
    return Tensors{dx};
  });
}

namespace {

Shape concat_shape(const Tensors& parts, int axis) {
  if (parts.empty()) throw ShapeError("concat: no tensors given");
  Shape shape = parts[0].shape();
  axis = shape.resolve_axis(axis);
  for (size_t i = 1; i < parts.size(); ++i) {
    Shape other = parts[i].shape();
    const bool fits = other.rank() == shape.rank() && parts[i].dtype() == parts[0].dtype();
    Dim extent = fits ? other[axis] : 0;
    if (fits) other[axis] = shape[axis];
    if (!fits || !(other == shape)) {
      throw ShapeError("concat: " + parts[0].shape().text() + " and " + parts[i].shape().text() +
                       " differ beside axis " + std::to_string(axis) + ", or in type");
    }
    shape[axis] += extent;
  }
  return shape;
}

}  // namespace

Tensor concat(const Tensors& parts, int axis) {
  const Shape shape = concat_shape(parts, axis);
  axis = shape.resolve_axis(axis);
  Tensor y = Tensor::empty(shape, parts[0].dtype());
  std::vector<Dim> ends;
  Dim begin = 0;
  for (const Tensor& part : parts) {
    y.narrowed(axis, begin, begin + part.size(axis)).copy_from(part);
    ends.push_back(begin += part.size(axis));
  }
  return record("concat", y, parts, [axis, ends](const Tensor& dy) {
    Tensors grads;
    Dim from = 0;
    for (const Dim to : ends) {
      grads.push_back(dy.narrowed(axis, from, to));
      from = to;
    }
    return grads;
  });
}

Tensors split(const Tensor& x, Dim parts, int axis) {
  if (parts < 1 || x.size(axis) % parts != 0) {
    throw ShapeError("split: axis " + std::to_string(axis) + " of " + x.shape().text() + " does not divide into " +
                     std::to_string(parts) + " equal parts");
  }
  const Dim extent = x.size(axis) / parts;
  // Between x and the parts stands one more node, so that the parts' gradients meet in one buffer of x's shape.
  const auto shared = std::make_shared<Tensor>();
  const Tensor whole = !needs_grad({x}) ? x : record("split", x.detach(), {x}, [shared](const Tensor& dx) {
    *shared = {};
    return Tensors{dx};
  });
  Tensors out;
  for (Dim i = 0; i < parts; ++i) {
    const Dim begin = i * extent, end = begin + extent;
    // y_i = x[begin:end]
    out.push_back(record("split", x.narrowed(axis, begin, end), {whole},
                         [shared, shape = x.shape(), axis, begin, end](const Tensor& dy) {
                           const bool first = !shared->defined();
                           if (first) *shared = Tensor::zeros(shape, dy.dtype());
                           shared->narrowed(axis, begin, end).copy_from(dy);
                           return Tensors{first ? *shared : Tensor()};
                         }));
  }
  return out;
}

Tensor expand(const Tensor& x, const Shape& shape) {
  return record("expand", x.expanded(shape), {x},
                [from = x.shape()](const Tensor& dy) { return Tensors{sum_to_shape(dy, from)}; });
}

}  // namespace glass
