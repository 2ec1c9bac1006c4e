#include "glassformer/tensor/tensor.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "glassformer/base/error.h"
#include "glassformer/tensor/grad_state.h"
#include "tensor/allocator.h"
#include "tensor/tensor_impl.h"

namespace glass {

Storage::Storage(size_t bytes) : data(acquire_block(bytes, capacity)) {}
Storage::~Storage() { release_block(data, capacity); }

namespace {

std::shared_ptr<TensorImpl> make_impl(const Shape& shape, DType dtype) {
  for (const Dim dim : shape) {
    if (dim < 0) throw ShapeError("tensor: negative extent in " + shape.text());
  }
  size_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<size_t>(shape.numel()), dtype_size(dtype), &bytes)) {
    throw ShapeError("tensor: shape " + shape.text() + " has too many elements");
  }
  auto impl = std::make_shared<TensorImpl>();
  impl->storage = std::make_shared<Storage>(bytes);
  impl->shape = shape;
  impl->strides = shape.row_major_strides();
  impl->dtype = dtype;
  return impl;
}

void require_dtype(DType have, DType want) {
  if (have != want) {
    throw TypeError("tensor: its elements are " + std::string(dtype_name(have)) + ", not " +
                    std::string(dtype_name(want)));
  }
}

}  // namespace

Tensor Tensor::empty(const Shape& shape, DType dtype) { return Tensor(make_impl(shape, dtype)); }

Tensor Tensor::zeros(const Shape& shape, DType dtype) {
  Tensor out = empty(shape, dtype);
  std::memset(out.raw(), 0, static_cast<size_t>(out.numel()) * dtype_size(dtype));
  return out;
}

Tensor Tensor::full(const Shape& shape, double value, DType dtype) {
  Tensor out = empty(shape, dtype);
  out.fill(value);
  return out;
}

Tensor Tensor::arange(Dim count, DType dtype) {
  Tensor out = empty({count}, dtype);
  dispatch(dtype, [&]<class T>(T*) {
    T* values = out.data<T>();
    for (Dim i = 0; i < count; ++i) {
      if constexpr (std::is_same_v<T, bfloat16>) {
        values[i] = bfloat16(static_cast<float>(i));
      } else {
        values[i] = static_cast<T>(i);
      }
    }
  });
  return out;
}

template <class T>
Tensor Tensor::from(std::span<const T> values, const Shape& shape) {
  if (static_cast<Dim>(values.size()) != shape.numel()) {
    throw ShapeError("tensor: " + std::to_string(values.size()) + " values for shape " + shape.text());
  }
  Tensor out = empty(shape, dtype_of<T>::value);
  std::copy(values.begin(), values.end(), out.data<T>());
  return out;
}
template Tensor Tensor::from(std::span<const float>, const Shape&);
template Tensor Tensor::from(std::span<const double>, const Shape&);
template Tensor Tensor::from(std::span<const bfloat16>, const Shape&);
template Tensor Tensor::from(std::span<const int32_t>, const Shape&);
template Tensor Tensor::from(std::span<const int64_t>, const Shape&);
template Tensor Tensor::from(std::span<const bool>, const Shape&);

const Shape& Tensor::shape() const { return impl_->shape; }
const Shape& Tensor::strides() const { return impl_->strides; }
DType Tensor::dtype() const { return impl_->dtype; }

bool Tensor::is_contiguous() const {
  if (numel() == 0) return true;
  Dim expected = 1;
  for (int axis = rank() - 1; axis >= 0; --axis) {
    const Dim extent = impl_->shape[axis];
    if (extent != 1 && impl_->strides[axis] != expected) return false;
    expected *= extent;
  }
  return true;
}

const void* Tensor::raw() const {
  return static_cast<const char*>(impl_->storage->data) + static_cast<size_t>(impl_->offset) * dtype_size(impl_->dtype);
}
void* Tensor::raw() { return const_cast<void*>(std::as_const(*this).raw()); }

template <class T>
const T* Tensor::data() const {
  require_dtype(dtype(), dtype_of<T>::value);
  return static_cast<const T*>(raw());
}
template <class T>
T* Tensor::data() {
  require_dtype(dtype(), dtype_of<T>::value);
  return static_cast<T*>(raw());
}
#define GLASS_INSTANTIATE_DATA(T)            \
  template const T* Tensor::data<T>() const; \
  template T* Tensor::data<T>();
GLASS_INSTANTIATE_DATA(float)
GLASS_INSTANTIATE_DATA(double)
GLASS_INSTANTIATE_DATA(bfloat16)
GLASS_INSTANTIATE_DATA(int32_t)
GLASS_INSTANTIATE_DATA(int64_t)
GLASS_INSTANTIATE_DATA(bool)
#undef GLASS_INSTANTIATE_DATA

double Tensor::at(std::initializer_list<Dim> index) const {
  if (static_cast<int>(index.size()) != rank()) {
    throw ValueError("at: " + std::to_string(index.size()) + " indices for shape " + shape().text());
  }
  Dim place = 0;
  int axis = 0;
  for (const Dim i : index) {
    if (i < 0 || i >= size(axis)) {
      throw ValueError("at: index " + std::to_string(i) + " is outside of axis " + std::to_string(axis) + " of " +
                       shape().text());
    }
    place += i * impl_->strides[axis++];
  }
  return dispatch(dtype(), [&]<class T>(T*) {
    if constexpr (std::is_same_v<T, bfloat16>) {
      return static_cast<double>(static_cast<float>(data<T>()[place]));
    } else {
      return static_cast<double>(data<T>()[place]);
    }
  });
}

double Tensor::item() const {
  if (numel() != 1) throw ShapeError("item: shape " + shape().text() + " has not exactly one element");
  return detach().contiguous().reshaped({1}).at({0});
}

Tensor Tensor::view_as(const Shape& shape, const Shape& strides, Dim offset) const {
  auto impl = std::make_shared<TensorImpl>();
  impl->storage = impl_->storage;
  impl->shape = shape;
  impl->strides = strides;
  impl->offset = impl_->offset + offset;
  impl->dtype = impl_->dtype;
  return Tensor(std::move(impl));
}

Tensor Tensor::detach() const { return view_as(shape(), strides(), 0); }

Tensor Tensor::reshaped(const Shape& shape) const {
  if (shape.numel() != numel()) {
    throw ShapeError("reshape: " + impl_->shape.text() + " and " + shape.text() +
                     " differ in their number of elements");
  }
  if (!is_contiguous()) throw ShapeError("reshaped: a view of shape " + impl_->shape.text() + " is not contiguous");
  return view_as(shape, shape.row_major_strides(), 0);
}

Tensor Tensor::transposed(int a, int b) const {
  Shape shape = impl_->shape, strides = impl_->strides;
  std::swap(shape[a], shape[b]);
  std::swap(strides[a], strides[b]);
  return view_as(shape, strides, 0);
}

Tensor Tensor::narrowed(int axis, Dim begin, Dim end) const {
  if (begin < 0 || begin > end || end > size(axis)) {
    throw ValueError("slice: [" + std::to_string(begin) + "," + std::to_string(end) + ") is outside of axis " +
                     std::to_string(axis) + " of " + shape().text());
  }
  Shape shape = impl_->shape;
  shape[axis] = end - begin;
  return view_as(shape, impl_->strides, begin * impl_->strides[axis]);
}

Tensor Tensor::expanded(const Shape& shape) const {
  const int added = shape.rank() - rank();
  Shape strides = shape;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const Dim extent = axis < added ? 1 : size(axis - added);
    if (added < 0 || shape[axis] < 0 || (extent != shape[axis] && extent != 1)) {
      throw ShapeError("expand: " + impl_->shape.text() + " does not broadcast to " + shape.text());
    }
    strides[axis] = extent == 1 ? 0 : impl_->strides[axis - added];
  }
  if (added < 0) throw ShapeError("expand: " + impl_->shape.text() + " does not broadcast to " + shape.text());
  return view_as(shape, strides, 0);
}

void Tensor::mark_changed() { impl_->storage->version.fetch_add(1, std::memory_order_relaxed); }
uint32_t Tensor::version() const { return impl_->storage->version.load(std::memory_order_relaxed); }

void Tensor::rehome(const Tensor& home, Dim offset) {
  require_dtype(home.dtype(), dtype());
  if (home.rank() != 1 || !home.is_contiguous()) {
    throw ShapeError("rehome: the home must be one dense row, got shape " + home.shape().text());
  }
  Tensor place = home.narrowed(0, offset, offset + numel()).reshaped(shape());
  place.copy_from(*this);
  impl_->storage = place.impl_->storage;
  impl_->strides = place.impl_->strides;
  impl_->offset = place.impl_->offset;
}

namespace {

GradState& state_of(std::shared_ptr<GradState>& state) {
  if (!state) state = std::make_shared<GradState>();
  return *state;
}

}  // namespace

Tensor& Tensor::set_requires_grad(bool on) {
  if (on && !is_floating(dtype())) {
    throw TypeError("requires_grad: " + std::string(dtype_name(dtype())) + " tensors have no gradient");
  }
  state_of(impl_->grad_state).requires_grad = on;
  return *this;
}
bool Tensor::requires_grad() const { return impl_->grad_state && impl_->grad_state->requires_grad; }
Tensor Tensor::grad() const { return impl_->grad_state ? impl_->grad_state->grad : Tensor(); }
void Tensor::set_grad(const Tensor& grad) {
  if (grad.defined()) require_dtype(grad.dtype(), dtype());
  if (grad.defined() && !(grad.shape() == shape())) {
    throw ShapeError("set_grad: a gradient of shape " + grad.shape().text() + " for a tensor of shape " +
                     shape().text());
  }
  state_of(impl_->grad_state).grad = grad;
}
const std::shared_ptr<GradState>& Tensor::grad_state() const { return impl_->grad_state; }
void Tensor::set_grad_state(std::shared_ptr<GradState> state) { impl_->grad_state = std::move(state); }

}  // namespace glass
