#include "glassformer/base/isa.h"

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>

#include "glassformer/base/error.h"

namespace glass {

namespace {

bool has_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }

bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

unsigned leaf7_edx() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 ? d : 0;
}

bool has_avx512_bf16() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return has_avx512() && __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0 && (a >> 5 & 1u) != 0;
}

bool has_avx512_vnni() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return has_avx512() && __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (c >> 11 & 1u) != 0;
}

bool has_amx() {
  constexpr unsigned amx_bf16 = 1u << 22, amx_tile = 1u << 24;
  if (!has_avx512() || (leaf7_edx() & (amx_bf16 | amx_tile)) != (amx_bf16 | amx_tile)) return false;
  // The kernel hands out the tile registers on request only (arch_prctl, ARCH_REQ_XCOMP_PERM, feature 18).
  constexpr int request_permission = 0x1023, tile_data = 18;
  return syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
}

std::vector<Isa> detect() {
  __builtin_cpu_init();  // a static initialiser may ask before the run-time library has looked
  std::vector<Isa> found{Isa::generic};
  if (has_avx2()) found.push_back(Isa::avx2);
  if (has_avx512()) found.push_back(Isa::avx512);
  if (has_amx()) found.push_back(Isa::amx);
  return found;
}

std::string names(const std::vector<Isa>& isas) {
  std::string text;
  for (const Isa isa : isas) text += (text.empty() ? "" : ", ") + std::string(isa_name(isa));
  return text;
}

Isa decide() {
  const char* forced = std::getenv("GLASSFORMER_ISA");
  if (forced == nullptr || *forced == '\0') return available_isas().back();
  for (const Isa isa : available_isas()) {
    if (isa_name(isa) == forced) return isa;
  }
  for (const Isa isa : {Isa::generic, Isa::avx2, Isa::avx512, Isa::amx}) {
    if (isa_name(isa) == forced) {
      throw InputError("GLASSFORMER_ISA=" + std::string(forced) + ": this machine lacks it; it has " +
                       names(available_isas()));
    }
  }
  throw InputError("GLASSFORMER_ISA=" + std::string(forced) + ": unknown; use one of " + names(available_isas()));
}

}  // namespace

std::string_view isa_name(Isa isa) {
  switch (isa) {
    case Isa::generic:
      return "generic";
    case Isa::avx2:
      return "avx2";
    case Isa::avx512:
      return "avx512";
    case Isa::amx:
      return "amx";
  }
  return "unknown";
}

const std::vector<Isa>& available_isas() {
  static const std::vector<Isa> found = detect();
  return found;
}

Isa isa() {
  static const Isa chosen = decide();
  return chosen;
}

bool has_bf16_products() {
  // Asked for each product; a virtual machine answers CPUID itself, which takes a microsecond or more.
  static const bool has = isa() == Isa::amx || (isa() == Isa::avx512 && has_avx512_bf16());
  return has;
}

bool has_int8_products() {
  static const bool has = (isa() == Isa::amx || isa() == Isa::avx512) && has_avx512_vnni();
  return has;
}

}  // namespace glass
