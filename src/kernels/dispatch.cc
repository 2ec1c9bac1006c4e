#include "kernels/dispatch.h"

#include <dnnl.h>
#include <hwy/targets.h>

#include "glassformer/base/isa.h"

namespace glass::kernels {

namespace {

dnnl_cpu_isa_t onednn_isa(Isa isa) {
  switch (isa) {
    case Isa::generic: return dnnl_cpu_isa_sse41;
    case Isa::avx2: return dnnl_cpu_isa_avx2;
    case Isa::avx512: return dnnl_cpu_isa_avx512_core_bf16;
    case Isa::amx: return dnnl_cpu_isa_all;
  }
  return dnnl_cpu_isa_all;
}

bool apply() {
  const Isa chosen = isa();
  int64_t above = 0;  // Highway's targets that the chosen set does not include
  if (chosen < Isa::avx512) above |= HWY_AVX3 | HWY_AVX3_DL;
  if (chosen < Isa::avx2) above |= HWY_AVX2 | HWY_SSE4 | HWY_SSSE3;
  hwy::DisableTargets(above);
  dnnl_set_max_cpu_isa(onednn_isa(chosen));  // refused after oneDNN's first use, which only a caller's own use can be
  return true;
}

}  // namespace

void apply_isa() {
  static const bool applied = apply();
  static_cast<void>(applied);
}

}  // namespace glass::kernels
