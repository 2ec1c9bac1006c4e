// A loss computed under a trace, with its gradients if the trace asks for them.
#pragma once

#include <functional>

#include "glassformer/inspect/trace.h"

namespace glass {

// Extends the trace by what `loss`, a forward pass of the module that ends in a scalar, gives on this thread, the
// scalar itself as "loss". If the trace asks for gradients, by the backward pass too and by the module's parameters
// with their gradients; the gradients that the parameters held before are theirs again afterwards. Returns the loss.
double trace_loss(const Module& module, const std::function<Tensor()>& loss, Trace& trace);

}  // namespace glass
