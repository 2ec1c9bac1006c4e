#include "kernels/copy.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/copy.cc"
#include <hwy/foreach_target.h>
// Highway includes this file once for each target, so what follows must come after.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace glass::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// bfloat16(x), by its definition in base/bfloat16.h: to nearest, ties to even, NaN stays NaN.
void round_to_bf16_lanes(const float* from, int64_t count, bfloat16* to) {
  const hn::ScalableTag<uint32_t> d;
  const hn::RebindToSigned<decltype(d)> wide;
  const hn::Rebind<uint16_t, decltype(d)> narrow;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto word = hn::BitCast(d, hn::LoadU(hn::Rebind<float, decltype(d)>(), from + i));
    const auto odd = hn::And(hn::ShiftRight<16>(word), hn::Set(d, 1));
    const auto rounded = hn::Add(word, hn::Add(hn::Set(d, 0x7fff), odd));
    const auto magnitude = hn::BitCast(wide, hn::And(word, hn::Set(d, 0x7fffffffu)));
    const auto is_nan = hn::RebindMask(d, hn::Gt(magnitude, hn::Set(wide, 0x7f800000)));
    const auto bits = hn::IfThenElse(is_nan, hn::Or(word, hn::Set(d, 0x400000u)), rounded);
    const auto upper = hn::DemoteTo(narrow, hn::BitCast(wide, hn::ShiftRight<16>(bits)));
    hn::StoreU(upper, narrow, reinterpret_cast<uint16_t*>(to + i));
  }
  for (; i < count; ++i) to[i] = bfloat16(from[i]);
}

}  // namespace glass::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <cstring>
#include <type_traits>

#include "kernels/dispatch.h"
#include "kernels/strided.h"

namespace glass::kernels {

HWY_EXPORT(round_to_bf16_lanes);

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

// Both runs dense.
template <class From, class To>
void copy_dense(const From* from, int64_t count, To* to) {
  if constexpr (std::is_same_v<From, To>) {
    std::memcpy(to, from, static_cast<size_t>(count) * sizeof(To));
  } else if constexpr (std::is_same_v<From, float> && std::is_same_v<To, bfloat16>) {
    GLASS_DISPATCH(round_to_bf16_lanes)(from, count, to);
  } else {
    for (int64_t i = 0; i < count; ++i) to[i] = convert<To>(from[i]);
  }
}

}  // namespace

template <class From, class To>
void copy(const From* from, const Layout& from_layout, To* to, const Layout& to_layout) {
  const auto walk = merge_axes<2>({&from_layout, &to_layout});
  for_each_row(walk, [&](const auto& offsets, const auto& strides, int64_t count) {
    const From* source = from + offsets[0];
    To* target = to + offsets[1];
    if (strides[0] == 1 && strides[1] == 1) return copy_dense(source, count, target);
    for (int64_t i = 0; i < count; ++i) target[i * strides[1]] = convert<To>(source[i * strides[0]]);
  });
}

#define GLASS_INSTANTIATE(From, To) template void copy(const From*, const Layout&, To*, const Layout&);
#define GLASS_INSTANTIATE_FROM(From) \
  GLASS_INSTANTIATE(From, float)     \
  GLASS_INSTANTIATE(From, double)    \
  GLASS_INSTANTIATE(From, bfloat16)  \
  GLASS_INSTANTIATE(From, int32_t)   \
  GLASS_INSTANTIATE(From, int64_t)   \
  GLASS_INSTANTIATE(From, bool)
GLASS_INSTANTIATE_FROM(float)
GLASS_INSTANTIATE_FROM(double)
GLASS_INSTANTIATE_FROM(bfloat16)
GLASS_INSTANTIATE_FROM(int32_t)
GLASS_INSTANTIATE_FROM(int64_t)
GLASS_INSTANTIATE_FROM(bool)

}  // namespace glass::kernels
#endif
