// What a training step takes, before it is tried.
#pragma once

#include <string>

#include "glassformer/inspect/finding.h"
#include "glassformer/models/config.h"
#include "glassformer/train/task.h"

namespace glass {

struct StepShape {
  Dim batch = 1, source = 1, target = 1;  // rows, and tokens a row
};

// Bytes of float32, counted from the sizes: what grows with T·S (scores, weights and their gradients), what grows with
// T (activations, logits), and parameters with gradients and moments. An upper figure for attention that keeps its
// weights; a kernel that does not takes less.
struct StepMemory {
  double attention = 0, activations = 0, parameters = 0;
  double total() const { return attention + activations + parameters; }
};
StepMemory predict_memory(const TransformerConfig& config, const StepShape& shape);

// "memory": more than `available` bytes, or more than half of it for what grows with T².
Findings check_memory(const TransformerConfig& config, const StepShape& shape, double available);
// Physical memory of this machine.
double physical_memory();

// What a run will take on this machine, from one update that is measured: a batch from the middle of
// an epoch, whose batches come in no order of length, forward and backward. Moves the module's parameters into a
// ParameterStore, as training does.
struct RunCost {
  double update_seconds = 0, peak_bytes = 0;
  int64_t updates = 0;  // of the whole run; 0 if only its minutes are known
  std::string text() const;
};
RunCost predict_run(TrainingTask& task, const Recipe& recipe);

}  // namespace glass
