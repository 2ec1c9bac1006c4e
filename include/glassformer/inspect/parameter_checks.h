// What the parameters are before training, and whether training reaches them.
#pragma once

#include "glassformer/inspect/finding.h"
#include "glassformer/inspect/probe.h"

namespace glass {

// Two parameters of equal bits that are not one tied tensor: they get equal gradients and stay equal where their inputs
// are. Constant ones (biases, gains) do not count. "twins"
Findings check_twins(const Probe& probe);

// Deviation of each fresh matrix against its initialiser's: √(2/(in+out)) Xavier, √(2/in) Kaiming, a part of a packed
// [3·out,in] with three times the outputs, 1/√D embeddings. "initial scale"
Findings check_initial_scale(const Probe& probe);

// One backward pass: a matrix without gradient is not trained. "no gradient"
Findings check_gradients_arrive(const Probe& probe, const ProbeBatch& batch);

}  // namespace glass
