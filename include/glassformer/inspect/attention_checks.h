// What the numbers inside attention say. Taps: query_heads, key_heads, scores, weights.
#pragma once

#include "glassformer/inspect/finding.h"
#include "glassformer/inspect/probe.h"

namespace glass {

// The factor between q·k and the scores, against 1/√K. Entries of independent q and k give q·k a deviation of
// √K·rms(q)·rms(k), so scaled scores have rms(q)·rms(k), whatever K is. "score scale"
Findings check_score_scale(const Probe& probe, const ProbeBatch& batch);

// Entropy of each row of weights over ln(keys it may see): 1 for even weights, 0 for one key alone. Normal scores of
// deviation σ give 1 − σ²/(2 ln n). Found if every head of an attention is at one end: under 0.05; over 0.999 in a
// trained model, and in a fresh one ten times nearer to 1 than its scores say. "deadlocked attention"
Findings check_deadlock(const Probe& probe, const ProbeBatch& batch);

}  // namespace glass
