// The extents of a tensor, outermost first.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace glass {

using Dim = int64_t;

// Up to 8 extents, stored in place; a tensor's are 0 or more. A value type; rank 0 is a scalar.
class Shape {
 public:
  static constexpr int max_rank = 8;

  Shape() = default;
  Shape(std::initializer_list<Dim> dims);
  explicit Shape(const std::vector<Dim>& dims);

  int rank() const { return rank_; }
  // Negative axes count from the end. Throws ValueError if there is no such axis.
  Dim operator[](int axis) const { return dims_[resolve_axis(axis)]; }
  Dim& operator[](int axis) { return dims_[resolve_axis(axis)]; }
  int resolve_axis(int axis) const;

  const Dim* begin() const { return dims_.data(); }
  const Dim* end() const { return dims_.data() + rank_; }

  void append(Dim dim);
  // The product of all extents; 1 for a scalar. Throws ShapeError on overflow or a negative extent.
  Dim numel() const;
  // Strides, in elements, of a dense row-major tensor of this shape.
  Shape row_major_strides() const;

  std::string text() const;  // "[2,4,8]"
  friend bool operator==(const Shape& a, const Shape& b);

 private:
  std::array<Dim, max_rank> dims_{};
  int rank_ = 0;
};

// The shape both broadcast to by the usual rule: aligned at the end, extents equal or 1. Throws ShapeError naming
// `operation` and both shapes.
Shape broadcast_shapes(const char* operation, const Shape& a, const Shape& b);

}  // namespace glass
