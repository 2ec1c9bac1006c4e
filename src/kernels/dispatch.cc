#include "kernels/dispatch.h"

#include <dnnl.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/dispatch.cc"
#include <hwy/foreach_target.h>
// Highway includes this file once for each target, so what follows must come after.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace glass::kernels::HWY_NAMESPACE {

const char* target_name() { return hwy::TargetName(HWY_TARGET); }

}  // namespace glass::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace glass::kernels {

HWY_EXPORT(target_name);

namespace {

// oneDNN 2 and 3 have a name each for the same.
constexpr auto all_of_them = static_cast<dnnl_cpu_isa_t>(0);

dnnl_cpu_isa_t highest_allowed(Isa isa) {
  switch (isa) {
    case Isa::generic:
      return dnnl_cpu_isa_sse41;
    case Isa::avx2:
      return dnnl_cpu_isa_avx2;
    case Isa::avx512:
      return dnnl_cpu_isa_avx512_core_bf16;
    case Isa::amx:
      return all_of_them;
  }
  return all_of_them;
}

bool apply() {
  const Isa chosen = isa();
  int64_t above = 0;  // Highway's targets that the chosen set does not include
  if (chosen < Isa::avx512) above |= HWY_AVX3 | HWY_AVX3_DL;
  if (chosen < Isa::avx2) above |= HWY_AVX2 | HWY_SSE4 | HWY_SSSE3;
  hwy::DisableTargets(above);
  dnnl_set_max_cpu_isa(
      highest_allowed(chosen));  // refused after oneDNN's first use, which only a caller's own use can be
  return true;
}

}  // namespace

void apply_isa() {
  static const bool applied = apply();
  static_cast<void>(applied);
}

std::string_view highway_target() { return GLASS_DISPATCH(target_name)(); }

Isa onednn_isa() {
  apply_isa();
  const unsigned effective = dnnl_get_effective_cpu_isa();  // a set of bits; a higher set has those of the lower
  auto includes = [effective](unsigned set) { return (effective & set) == set; };
  if (includes(dnnl_cpu_isa_avx512_core_amx)) return Isa::amx;
  if (includes(dnnl_cpu_isa_avx512_core)) return Isa::avx512;
  if (includes(dnnl_cpu_isa_avx2)) return Isa::avx2;
  return Isa::generic;
}

}  // namespace glass::kernels
#endif
