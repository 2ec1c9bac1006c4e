#include "kernels/copy.h"

#include <cstring>
#include <type_traits>

#include "kernels/strided.h"

namespace glass::kernels {

namespace {

template <class To, class From>
To convert(From value) {
  if constexpr (std::is_same_v<From, To>) {
    return value;
  } else if constexpr (std::is_same_v<From, bfloat16>) {
    return convert<To>(static_cast<float>(value));
  } else if constexpr (std::is_same_v<To, bfloat16>) {
    return bfloat16(static_cast<float>(value));
  } else if constexpr (std::is_same_v<To, bool>) {
    return value != From{};
  } else {
    return static_cast<To>(value);
  }
}

}  // namespace

template <class From, class To>
void copy(const From* from, const Layout& from_layout, To* to, const Layout& to_layout) {
  const auto walk = merge_axes<2>({&from_layout, &to_layout});
  for_each_row(walk, [&](const auto& offsets, const auto& strides, int64_t count) {
    const From* source = from + offsets[0];
    To* target = to + offsets[1];
    if (strides[0] == 1 && strides[1] == 1) {
      if constexpr (std::is_same_v<From, To>) {
        std::memcpy(target, source, static_cast<size_t>(count) * sizeof(To));
      } else {
        for (int64_t i = 0; i < count; ++i) target[i] = convert<To>(source[i]);
      }
    } else {
      for (int64_t i = 0; i < count; ++i) target[i * strides[1]] = convert<To>(source[i * strides[0]]);
    }
  });
}

#define GLASS_INSTANTIATE(From, To) template void copy(const From*, const Layout&, To*, const Layout&);
#define GLASS_INSTANTIATE_FROM(From)  \
  GLASS_INSTANTIATE(From, float)      \
  GLASS_INSTANTIATE(From, double)     \
  GLASS_INSTANTIATE(From, bfloat16)   \
  GLASS_INSTANTIATE(From, int32_t)    \
  GLASS_INSTANTIATE(From, int64_t)    \
  GLASS_INSTANTIATE(From, bool)
GLASS_INSTANTIATE_FROM(float)
GLASS_INSTANTIATE_FROM(double)
GLASS_INSTANTIATE_FROM(bfloat16)
GLASS_INSTANTIATE_FROM(int32_t)
GLASS_INSTANTIATE_FROM(int64_t)
GLASS_INSTANTIATE_FROM(bool)

}  // namespace glass::kernels
