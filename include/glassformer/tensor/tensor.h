// Tensor: a cheap handle on a strided view of shared storage. This layer stores, views and copies; arithmetic is in
// autograd/ops.h.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "glassformer/tensor/dtype.h"
#include "glassformer/tensor/shape.h"

namespace glass {

struct Storage;    // bytes from the caching allocator, with a count of in-place changes
struct GradState;  // what differentiation knows of a tensor; defined by autograd/
struct TensorImpl;

// Copies of a handle are the same tensor. Reading from several threads is safe; writing needs the caller's care, as
// with any C++ object. A default-constructed handle is undefined: only defined() and assignment may be used on it.
class Tensor {
 public:
  Tensor() = default;

  static Tensor empty(const Shape& shape, DType dtype = DType::f32);  // contents unspecified
  static Tensor zeros(const Shape& shape, DType dtype = DType::f32);
  static Tensor full(const Shape& shape, double value, DType dtype = DType::f32);
  static Tensor scalar(double value, DType dtype = DType::f32) { return full({}, value, dtype); }
  // 0, 1, …, count − 1.
  static Tensor arange(Dim count, DType dtype = DType::i64);
  // Copies `values`, row-major. Throws ShapeError unless there are shape.numel() of them.
  template <class T>
  static Tensor from(std::span<const T> values, const Shape& shape);
  template <class T>
  static Tensor from(const std::vector<T>& values, const Shape& shape) {
    return from(std::span<const T>(values), shape);
  }
  template <class T>
  static Tensor from(std::initializer_list<T> values, const Shape& shape) {
    return from(std::span<const T>(values.begin(), values.size()), shape);
  }

  bool defined() const { return impl_ != nullptr; }
  const Shape& shape() const;
  const Shape& strides() const;  // in elements; 0 along a broadcast axis
  DType dtype() const;
  int rank() const { return shape().rank(); }
  Dim size(int axis) const { return shape()[axis]; }
  Dim numel() const { return shape().numel(); }
  bool is_contiguous() const;  // dense and row-major

  // The first element. Throws TypeError unless T is the element type. The non-const form does not count as an in-place
  // change by itself: a caller that writes into a tensor others may hold calls mark_changed().
  template <class T>
  const T* data() const;
  template <class T>
  T* data();
  const void* raw() const;
  void* raw();

  // One element as double / of a one-element tensor. Throws ValueError for an index outside, ShapeError otherwise.
  double at(std::initializer_list<Dim> index) const;
  double item() const;
  // All elements, row-major, converted.
  std::vector<double> to_vector() const;

  // Views: the same storage, nothing recorded for differentiation (autograd/ops.h has the recorded forms).
  Tensor view_as(const Shape& shape, const Shape& strides,
                 Dim offset) const;           // offset from this tensor's first element
  Tensor reshaped(const Shape& shape) const;  // contiguous tensors only
  Tensor transposed(int a, int b) const;
  Tensor narrowed(int axis, Dim begin, Dim end) const;
  Tensor expanded(const Shape& shape) const;  // broadcast by zero strides
  // The same elements without any link to a gradient graph.
  Tensor detach() const;

  // Copies.
  Tensor contiguous() const;     // itself if it is already; unrecorded
  Tensor clone() const;          // dense copy; unrecorded
  Tensor to(DType dtype) const;  // itself if it has that type; unrecorded

  // In-place changes; each counts, so that a backward pass that needs the old values can refuse.
  void fill(double value);
  void copy_from(const Tensor& source);  // same shape (or broadcastable to it), types converted
  void mark_changed();
  uint32_t version() const;

  // Moves this tensor's elements into `home` (same type, contiguous) at element `offset`, and makes every handle on
  // this tensor a view of it. How parameters come to live in one flat buffer.
  void rehome(const Tensor& home, Dim offset);

  bool same_as(const Tensor& other) const { return impl_ == other.impl_; }  // handles on one tensor
  const void* id() const { return impl_.get(); }

  // Differentiation (see autograd/autograd.h).
  Tensor& set_requires_grad(bool on);
  bool requires_grad() const;
  Tensor grad() const;                // undefined until a backward pass reached this leaf
  void set_grad(const Tensor& grad);  // a leaf's buffer to accumulate into
  const std::shared_ptr<GradState>& grad_state() const;
  void set_grad_state(std::shared_ptr<GradState> state);

  std::string text(int digits = 4) const;  // shape, type and values, long axes shortened

 private:
  explicit Tensor(std::shared_ptr<TensorImpl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<TensorImpl> impl_;
};

// Bytes of storage now held by tensors, and the most there have been since the last reset. Process-wide.
struct MemoryUse {
  size_t current = 0;
  size_t peak = 0;
};
MemoryUse memory_use();
void reset_peak_memory();
// Gives freed blocks that are kept for reuse back to the system.
void release_cached_memory();

}  // namespace glass
