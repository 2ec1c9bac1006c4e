// The heads of a trained model: which do nothing, which do the same, which always look at one place. All are notes: a
// healthy model has some.
#pragma once

#include "glassformer/inspect/finding.h"
#include "glassformer/inspect/probe.h"

namespace glass {

// "dead heads": the logits stay (to 1e-4 of their norm) without the head's columns of output.weight, the parameter
// beside the attention's taps. "redundant heads": two heads of one attention whose weights differ by less than 0.02 of
// each row's mass. "parked heads": more than 0.9 of the mass on one position.
Findings check_heads(const Probe& probe, const ProbeBatch& batch);

}  // namespace glass
