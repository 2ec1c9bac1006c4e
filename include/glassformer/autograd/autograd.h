// Reverse-mode differentiation of whatever was computed (define by run).
//
// An operation computes its result y from inputs x and calls
//     record("tanh", y, {x}, [y = save(y)](const Tensor& dy) { return Tensors{mul(dy, …)}; })
// If no input needs a gradient, that keeps nothing, but the list of inputs, the function and what it saves are made all
// the same: some small allocations, no copy of elements. An operation that prepares more for its derivative asks
// needs_grad() first.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "glassformer/tensor/tensor.h"

namespace glass {

using Tensors = std::vector<Tensor>;

// A tensor kept for the backward pass: shares storage, holds no graph, and knows whether it was changed since.
class Saved {
 public:
  Saved() = default;
  explicit Saved(const Tensor& tensor);
  // The tensor. Throws GradError if it was changed in place after it was saved.
  const Tensor& operator*() const;
  const Tensor* operator->() const { return &**this; }
  bool defined() const { return tensor_.defined(); }

 private:
  Tensor tensor_;
  uint32_t version_ = 0;
};
inline Saved save(const Tensor& tensor) { return Saved(tensor); }

// Given dL/dy returns dL/dx for each input, undefined where an input needs none.
using Backward = std::function<Tensors(const Tensor& output_grad)>;

// Whether a gradient graph is being built on this thread and any of the inputs is part of it.
bool needs_grad(std::initializer_list<Tensor> inputs);
bool needs_grad(const Tensors& inputs);

// Makes `output` the result of `operation` on `inputs`; returns it. Remembers the scope, for error messages.
// `operation` must outlive the graph (a literal).
Tensor record(const char* operation, Tensor output, const Tensors& inputs, Backward backward);
// For operations without a derivative: throws GradError if any input is part of a graph.
Tensor record_not_differentiable(const char* operation, Tensor output, const Tensors& inputs);

// Fills the gradient of every leaf that `loss` (one element) depends on, adding to what is there. Leaves with
// set_grad() accumulate into that buffer. Frees the graph. Throws GradError for a second call on the same graph, a loss
// that depends on no leaf, or a saved tensor that was changed in place; ShapeError if loss has more than one element.
void backward(const Tensor& loss);
// The same from a tensor of any shape and dL/d(root).
void backward(const Tensor& root, const Tensor& grad);

// dL/d(tensor) of an intermediate result: asks that the backward pass keeps it, to be read by tensor.grad().
void retain_grad(const Tensor& tensor);

// No graph is built on this thread during its lifetime.
class NoGrad {
 public:
  NoGrad();
  ~NoGrad();
  NoGrad(const NoGrad&) = delete;
  NoGrad& operator=(const NoGrad&) = delete;

 private:
  bool outer_;
};
bool grad_enabled();

// Called for each operation's output in a forward pass on this thread, while set: how the first non-finite value is
// found. nullptr for none.
using OutputObserver = std::function<void(const char* operation, const Tensor& output, const Tensors& inputs)>;
class ObserveOutputs {
 public:
  explicit ObserveOutputs(OutputObserver observer);
  ~ObserveOutputs();
  ObserveOutputs(const ObserveOutputs&) = delete;
  ObserveOutputs& operator=(const ObserveOutputs&) = delete;

 private:
  OutputObserver observer_;
  const OutputObserver* outer_;
};

}  // namespace glass
