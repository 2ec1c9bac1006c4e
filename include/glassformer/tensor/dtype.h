// Element types.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace glass {

enum class DType : uint8_t { f32, f64, bf16, i32, i64, boolean };

// The upper half of a float32: 8 bits of exponent, 7 of fraction. Storage only; arithmetic is done in float.
struct bfloat16 {
  uint16_t bits = 0;

  bfloat16() = default;
  explicit bfloat16(float value) {  // round to nearest, ties to even; NaN stays NaN
    const uint32_t word = std::bit_cast<uint32_t>(value);
    if ((word & 0x7fffffffu) > 0x7f800000u) {
      bits = static_cast<uint16_t>((word >> 16) | 0x40u);
    } else {
      bits = static_cast<uint16_t>((word + 0x7fffu + ((word >> 16) & 1u)) >> 16);
    }
  }
  explicit operator float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
};

std::string_view dtype_name(DType dtype);  // "float32", "bfloat16", "bool", …
size_t dtype_size(DType dtype);            // bytes of an element

template <class T>
struct dtype_of;  // dtype_of<float>::value == DType::f32
template <>
struct dtype_of<float> { static constexpr DType value = DType::f32; };
template <>
struct dtype_of<double> { static constexpr DType value = DType::f64; };
template <>
struct dtype_of<bfloat16> { static constexpr DType value = DType::bf16; };
template <>
struct dtype_of<int32_t> { static constexpr DType value = DType::i32; };
template <>
struct dtype_of<int64_t> { static constexpr DType value = DType::i64; };
template <>
struct dtype_of<bool> { static constexpr DType value = DType::boolean; };

constexpr bool is_floating(DType t) { return t == DType::f32 || t == DType::f64 || t == DType::bf16; }

}  // namespace glass
