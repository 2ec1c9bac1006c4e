// The residual stream: what goes in, whether there is a direct path through, where the norms stand, how gradients come
// back. Taps, where not said otherwise: encoding, source_input, target_input, contribution, stream.
#pragma once

#include "glassformer/inspect/finding.h"
#include "glassformer/inspect/probe.h"

namespace glass {

// Size of the token embedding against that of the position added to it, and its factor against √D. "embedding scale"
Findings check_embedding_scale(const Probe& probe, const ProbeBatch& batch);

// stream − contribution is what the sub-layer was added to: nothing ("residual"); exactly the stream before it, as in
// x + f(LN(x)), or a norm of that, as in LN(x + f(x)), against Probe::norm ("norm place"); a norm's output has mean 0
// and deviation 1 for each token of a fresh model ("norm axes").
Findings check_residuals(const Probe& probe, const ProbeBatch& batch);

// With every matrix but the embeddings and the output layer's at zero, sub-layers add nothing: what is read must still
// reach the output, along the stream alone. Needs no taps. "residual"
Findings check_direct_path(const Probe& probe);

// The first operation of a forward pass that gives NaN or an infinity. "not finite"
Findings check_finite(const Probe& probe, const ProbeBatch& batch);

// Gradient of the loss in the stream, sub-layer by sub-layer: its factor from one to the next is about 1 with norms and
// a direct path, less than 1 Post-LN, where each norm divides by √(1 + share²) (Xiong et al., 2020). "gradient flow"
Findings check_gradient_flow(const Probe& probe, const ProbeBatch& batch);

}  // namespace glass
