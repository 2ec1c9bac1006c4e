#include "glassformer/tensor/shape.h"

#include <algorithm>

#include "glassformer/base/error.h"

namespace glass {

Shape::Shape(std::initializer_list<Dim> dims) {
  for (const Dim dim : dims) append(dim);
}

Shape::Shape(const std::vector<Dim>& dims) {
  for (const Dim dim : dims) append(dim);
}

void Shape::append(Dim dim) {
  if (rank_ == max_rank) throw ShapeError("shape: more than " + std::to_string(max_rank) + " axes");
  dims_[rank_++] = dim;
}

int Shape::resolve_axis(int axis) const {
  const int resolved = axis < 0 ? axis + rank_ : axis;
  if (resolved < 0 || resolved >= rank_) {
    throw ValueError("axis " + std::to_string(axis) + " does not exist in shape " + text());
  }
  return resolved;
}

Dim Shape::numel() const {
  Dim count = 1;
  for (const Dim dim : *this) {
    if (dim < 0) throw ShapeError("shape " + text() + " has a negative extent");
    if (__builtin_mul_overflow(count, dim, &count)) throw ShapeError("shape " + text() + " has too many elements");
  }
  return count;
}

Shape Shape::row_major_strides() const {
  Shape strides = *this;
  uint64_t stride = 1;  // beside an extent of 0 the others may be so large that it wraps; nobody walks those strides
  for (int axis = rank_ - 1; axis >= 0; --axis) {
    strides.dims_[axis] = static_cast<Dim>(stride);
    stride *= static_cast<uint64_t>(std::max<Dim>(1, dims_[axis]));
  }
  return strides;
}

std::string Shape::text() const {
  std::string out = "[";
  for (int axis = 0; axis < rank_; ++axis) {
    if (axis > 0) out += ',';
    out += std::to_string(dims_[axis]);
  }
  return out + "]";
}

bool operator==(const Shape& a, const Shape& b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

Shape broadcast_shapes(const char* operation, const Shape& a, const Shape& b) {
  const int rank = std::max(a.rank(), b.rank());
  Shape out;
  for (int axis = 0; axis < rank; ++axis) {
    const int in_a = axis - (rank - a.rank()), in_b = axis - (rank - b.rank());
    const Dim extent_a = in_a < 0 ? 1 : a[in_a], extent_b = in_b < 0 ? 1 : b[in_b];
    if (extent_a != extent_b && extent_a != 1 && extent_b != 1) {
      throw ShapeError(std::string(operation) + ": shapes do not broadcast, " + a.text() + " and " + b.text());
    }
    out.append(extent_a == 1 ? extent_b : extent_a);
  }
  return out;
}

}  // namespace glass
