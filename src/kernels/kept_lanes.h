// Masks of vectors as bits of words and back, once for each of Highway's targets: included inside HWY_NAMESPACE files
// only.
#if defined(GLASS_KEPT_LANES_H) == defined(HWY_TARGET_TOGGLE)
#ifdef GLASS_KEPT_LANES_H
#undef GLASS_KEPT_LANES_H
#else
#define GLASS_KEPT_LANES_H
#endif

#include <hwy/highway.h>

#include "kernels/kept.h"

HWY_BEFORE_NAMESPACE();
namespace glass::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Lane l is bit l; no vector of float32 has more than 64.
template <class D>
HWY_INLINE uint64_t bits_of(D d, hn::Mask<D> mask) {
  uint8_t bytes[8] = {};
  hn::StoreMaskBits(d, mask, bytes);
  uint64_t bits;
  hwy::CopyBytes<8>(bytes, &bits);
  return bits;
}

template <class D>
HWY_INLINE hn::Mask<D> mask_of(D d, uint64_t bits) {
  uint8_t bytes[8];
  hwy::CopyBytes<8>(&bits, bytes);
  return hn::LoadMaskBits(d, bytes);
}

// For a row of n elements and each word of its bits: vector(at) of each whole vector and element(at) of what is left
// give the bits of the elements from `at` on; word(number, bits) takes them together.
template <class Vector, class Element, class Word>
HWY_INLINE void gather_bits(int64_t n, int64_t lanes, Vector vector, Element element, Word word) {
  for (int64_t begin = 0; begin < n; begin += 64) {
    const int64_t end = HWY_MIN(n, begin + 64);
    uint64_t bits = 0;
    int64_t at = begin;
    for (; at + lanes <= end; at += lanes) bits |= vector(at) << (at - begin);
    for (; at < end; ++at) bits |= uint64_t{element(at)} << (at - begin);
    word(begin / 64, bits);
  }
}

}  // namespace glass::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
