// What the operations share: checks, dispatch over the two types that are computed with, layouts for the kernels.
#pragma once

#include <string>

#include "glassformer/autograd/ops.h"
#include "glassformer/base/error.h"
#include "glassformer/tensor/grad_state.h"
#include "kernels/copy.h"

namespace glass {

// Throws TypeError unless x is float32 or float64.
void require_float(const char* operation, const Tensor& x);
// The same for both, and that they agree.
void require_same_float(const char* operation, const Tensor& a, const Tensor& b);

// x's extents and strides as if broadcast to `shape`.
kernels::Layout broadcast_layout(const Tensor& x, const Shape& shape);

// Sums a gradient over the axes along which `shape` was broadcast to it.
Tensor sum_to_shape(const Tensor& grad, const Shape& shape);

// x [.., n] as a dense [N, n].
Tensor as_rows(const Tensor& x);

// Dense int64 ids of an int32 or int64 tensor.
Tensor dense_ids(const char* operation, const Tensor& ids);

// What the draws of a dropout here are keyed by: the current RandomContext, the scope and `stream`. Throws Error if
// there is no context.
struct DropoutKey {
  uint64_t key = 0, first_example = 0;
  std::shared_ptr<const std::vector<int64_t>> packed_rows = nullptr;  // as in RandomContext
};
DropoutKey dropout_key(int stream = 0);

// Throws unless x [..,in], weight [out,in] and bias [out], which may be undefined, fit together.
void check_linear(const Tensor& x, const Tensor& weight, const Tensor& bias);

// The labels of rows [..,·] of so many classes, dense int64. Throws ShapeError or ValueError if they do not fit, and
// for a smoothing outside of [0,1).
Tensor checked_labels(const Shape& rows, Dim classes, const Tensor& labels, const CrossEntropyOptions& options);

// Where a leaf's gradient is summed up. A derivative that can add to it in place does, and then gives no gradient for
// that input: a weight's gradient is as large as the weight, and need not be written, read and added once more.
class LeafGradient {
 public:
  explicit LeafGradient(const Tensor& input)
      : state_(input.grad_state()), shape_(input.shape()), type_(input.dtype()) {}

  // To be asked in the backward pass. Calls write(sum, add) with the sum, dense and of the input's shape, if it is of
  // this type; what is in it counts only if `add`. Returns false where the gradient has to be given as usual.
  template <class Write>
  bool take(DType type, Write write) const {
    if (!is_leaf() || type_ != type) return false;
    Tensor sum = state_->grad;
    if (sum.defined() && (sum.dtype() != type || !sum.is_contiguous())) return false;
    const bool add = sum.defined();
    if (!add) sum = Tensor::empty(shape_, type);
    write(sum, add);
    sum.mark_changed();
    state_->grad = sum;  // only now: a write that fails leaves nothing half written
    return true;
  }

 private:
  bool is_leaf() const { return state_ && state_->requires_grad && !state_->node; }

  std::shared_ptr<GradState> state_;
  Shape shape_;
  DType type_;
};

// The extents before `axis` and after it, multiplied.
struct AxisSplit {
  Dim outer = 1, extent = 1, inner = 1;
};
AxisSplit split_at(const Shape& shape, int axis);

// f(float{}) or f(double{}).
template <class F>
decltype(auto) for_float(const Tensor& x, F&& f) {
  return x.dtype() == DType::f64 ? f(double{}) : f(float{});
}

}  // namespace glass
