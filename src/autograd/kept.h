// Which elements of a result were let through, for a derivative that needs no more (kernels/kept.h).
#pragma once

#include "autograd/op_support.h"
#include "kernels/kept.h"

namespace glass {

// The rows along the last axis.
struct RowsOf {
  explicit RowsOf(const Shape& shape)
      : width(shape.rank() == 0 ? 1 : shape[-1]), count(shape.numel() / std::max<Dim>(1, width)) {}
  Dim width, count;
};

class Kept {
 public:
  Kept() = default;  // nobody needs it: bits() is null
  explicit Kept(const Shape& shape) {
    const RowsOf rows(shape);
    bits_ = Tensor::empty({rows.count, kernels::kept_words(rows.width)}, DType::i64);
  }

  // To be written by the operation's kernel.
  uint64_t* bits() { return bits_.defined() ? reinterpret_cast<uint64_t*>(bits_.data<int64_t>()) : nullptr; }

  // kept ? dy·scale : 0, of the shape that was given.
  Tensor where(const Tensor& dy, double scale) const {
    const RowsOf rows(dy.shape());
    const Tensor dense = dy.contiguous();
    Tensor dx = Tensor::empty(dy.shape(), dy.dtype());
    const auto* bits = reinterpret_cast<const uint64_t*>(bits_.data<int64_t>());
    for_float(dy, [&]<class T>(T) {
      kernels::where_kept(dense.data<T>(), bits, rows.count, rows.width, scale, dx.data<T>());
    });
    return dx;
  }

 private:
  Tensor bits_;  // [N,words], not numbers
};

}  // namespace glass
