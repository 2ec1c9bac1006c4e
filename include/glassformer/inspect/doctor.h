// All checks of a model at once. Single ones are in the headers included here.
#pragma once

#include "glassformer/inspect/attention_checks.h"
#include "glassformer/inspect/head_checks.h"
#include "glassformer/inspect/learning_checks.h"
#include "glassformer/inspect/mask_checks.h"
#include "glassformer/inspect/parameter_checks.h"
#include "glassformer/inspect/residual_checks.h"

namespace glass {

// Experiments on random batches, statistics on `batch`, without what one fault brings with it. Fresh models are
// compared with theory, trained ones have their heads looked at if the batch is real, that is, has labels;
// check_learning(), which trains, is left to the caller.
// A model that throws on a batch of another size is a finding too ("shapes"). Looks, and leaves everything as it was.
Findings diagnose(const Probe& probe, const ProbeBatch& batch);

}  // namespace glass
