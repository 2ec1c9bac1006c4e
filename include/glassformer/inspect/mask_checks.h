// Masks and leaks: experiments that change one thing in the input and look at what may not change in the output. They
// need nothing but Probe::logits; taps and Probe::mask_of say where the fault is. Each takes random batches of its own.
#pragma once

#include "glassformer/inspect/finding.h"
#include "glassformer/inspect/probe.h"

namespace glass {

// Changes a later token: the outputs before it must keep their bits. The first tap that does not tells the cause apart:
// "future leak" (weights), "heads split" (heads that hold another position's columns), "norm axes" (positions mixed
// outside of attention).
Findings check_future(const Probe& probe);
// Changes one source token: of the heads of the first attention, only its own row may change. "heads split" or "norm
// axes".
Findings check_source_rows(const Probe& probe);
// Changes the content of the padding (bits must stay) and its amount (rounding may change). "padding leak"
Findings check_padding(const Probe& probe);
// Where the weights fall, against Probe::mask_of. "mask reversed"
Findings check_mask_direction(const Probe& probe);
// With B = T = S, where a wrong broadcast goes unnoticed: another example's length must not matter ("mask broadcast"),
// nor its content ("examples mix").
Findings check_examples_apart(const Probe& probe);
// Another order of the input must give another output. "no positions", of encoder and decoder
Findings check_positions(const Probe& probe);
// The decoder's input must be the labels one step later, not the labels themselves, and a trained model must not say
// what it reads. "targets unshifted"
Findings check_targets(const Probe& probe, const ProbeBatch& batch);

}  // namespace glass
