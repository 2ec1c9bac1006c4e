// A trace in words and numbers: for a person, and for a program.
#pragma once

#include <string>

#include "glassformer/inspect/trace.h"

namespace glass {

// One line for each entry and each gradient: path, type, shape, min, max, mean, deviation, non-finite numbers; and, if
// the trace holds more than one tensor under a path, how many. Below, which gradients there are none of, and why.
std::string trace_text(const Trace& trace);

// [{"path", "source", "type", "shape", "tensors", "min", "max", "mean", "deviation", "count", "non_finite",
// "gradient": {the same numbers}, or {"none": why}}]. Without a finite number min, max, mean and deviation are null.
std::string trace_json(const Trace& trace);

}  // namespace glass
