// Applies the chosen instruction set (base/isa.h) to Highway and oneDNN.
#pragma once

namespace glass::kernels {

// Idempotent and thread-safe; every entry that dispatches calls it first. After the first call it costs a load.
void apply_isa();

}  // namespace glass::kernels

// Calls the best allowed version of a function exported with HWY_EXPORT.
#define GLASS_DISPATCH(function) \
  (::glass::kernels::apply_isa(), HWY_DYNAMIC_DISPATCH(function))
