// What a Tensor handle points to.
#pragma once

#include <atomic>
#include <memory>

#include "glassformer/tensor/tensor.h"

namespace glass {

struct Storage {
  explicit Storage(size_t bytes);
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  size_t capacity = 0;  // before `data`, whose initialiser sets it
  void* data = nullptr;
  std::atomic<uint32_t> version{0};  // in-place changes, through any view
};

struct TensorImpl {
  std::shared_ptr<Storage> storage;
  Shape shape, strides;
  Dim offset = 0;  // elements
  DType dtype = DType::f32;
  std::shared_ptr<GradState> grad_state;
};

// Calls f with a null pointer of the C++ type of `dtype`: dispatch(t, [&]<class T>(T*) { … }).
template <class F>
decltype(auto) dispatch(DType dtype, F&& f) {
  switch (dtype) {
    case DType::f64:
      return f(static_cast<double*>(nullptr));
    case DType::bf16:
      return f(static_cast<bfloat16*>(nullptr));
    case DType::i32:
      return f(static_cast<int32_t*>(nullptr));
    case DType::i64:
      return f(static_cast<int64_t*>(nullptr));
    case DType::boolean:
      return f(static_cast<bool*>(nullptr));
    case DType::f32:
      break;
  }
  return f(static_cast<float*>(nullptr));
}

}  // namespace glass
