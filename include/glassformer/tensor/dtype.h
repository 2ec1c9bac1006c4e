// Element types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "glassformer/base/bfloat16.h"

namespace glass {

enum class DType : uint8_t { f32, f64, bf16, i32, i64, boolean };

std::string_view dtype_name(DType dtype);  // "float32", "bfloat16", "bool", …
size_t dtype_size(DType dtype);            // bytes of an element

template <class T>
struct dtype_of;  // dtype_of<float>::value == DType::f32
template <>
struct dtype_of<float> {
  static constexpr DType value = DType::f32;
};
template <>
struct dtype_of<double> {
  static constexpr DType value = DType::f64;
};
template <>
struct dtype_of<bfloat16> {
  static constexpr DType value = DType::bf16;
};
template <>
struct dtype_of<int32_t> {
  static constexpr DType value = DType::i32;
};
template <>
struct dtype_of<int64_t> {
  static constexpr DType value = DType::i64;
};
template <>
struct dtype_of<bool> {
  static constexpr DType value = DType::boolean;
};

constexpr bool is_floating(DType t) { return t == DType::f32 || t == DType::f64 || t == DType::bf16; }

}  // namespace glass
