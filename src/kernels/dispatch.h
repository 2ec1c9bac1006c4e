// Applies the chosen instruction set (base/isa.h) to Highway and oneDNN.
#pragma once

#include <string_view>

#include "glassformer/base/isa.h"

namespace glass::kernels {

// Idempotent and thread-safe; every entry that dispatches calls it first. After the first call it costs a load.
void apply_isa();

// What in fact runs, asked of the two libraries, for tests that hold them to isa(): Highway's name of its target, and
// the highest of our instruction sets that oneDNN may use.
std::string_view highway_target();
Isa onednn_isa();

}  // namespace glass::kernels

// Calls the best allowed version of a function exported with HWY_EXPORT.
#define GLASS_DISPATCH(function) (::glass::kernels::apply_isa(), HWY_DYNAMIC_DISPATCH(function))
