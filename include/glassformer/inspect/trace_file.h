// A trace as a file, for verify() or any other reader of safetensors.
#pragma once

#include <string>
#include <vector>

#include "glassformer/inspect/trace.h"
#include "glassformer/tensor/safetensors.h"

namespace glass {

// Each entry's value, if it was kept, under its path, a parameter's left out (the model file has it); each gradient
// under the path and
// ".grad". What came under a path again is "path#2", "path#3", … The metadata say `format` "glassformer-trace" and, as
// a JSON list in `order`, in which order the tensors were made. Shares the tensors. Throws ValueError if the trace kept
// statistics only.
SafeTensors trace_contents(const Trace& trace);

// The tensors' names in the order they were made; by name where the file does not tell, as one from elsewhere. Throws
// InputError, naming `path`, for an order that is not a list of texts.
std::vector<std::string> names_in_order(const SafeTensors& contents, const std::string& path);

}  // namespace glass
