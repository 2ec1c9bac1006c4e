// The instruction set in use. Chosen once at run time: the best the machine has, or what GLASSFORMER_ISA forces.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace glass {

// In rising order; a machine that has one has those before it.
enum class Isa { generic, avx2, avx512, amx };

std::string_view isa_name(Isa isa);

// What this machine could run, in rising order. Never empty.
const std::vector<Isa>& available_isas();

// The one in use; decided at the first call and applied to our kernels and to oneDNN. Throws InputError if
// GLASSFORMER_ISA names one that is unknown or that this machine lacks.
Isa isa();

// Whether products of bf16 numbers run in hardware (AVX512-BF16 or AMX) under the ISA in use.
bool has_bf16_products();

// Whether it multiplies bytes by bytes (AVX512-VNNI).
bool has_int8_products();

}  // namespace glass
