// A checkpoint: the model file plus the optimiser's moments and where the run is.
#pragma once

#include <string>
#include <vector>

#include "glassformer/train/optimizer.h"
#include "glassformer/train/task.h"

namespace glass {

// Where a run is. Together with the weights and moments it decides all that follows.
struct RunState {
  int64_t step = 0;  // updates made
  int64_t epoch = 0;
  int64_t next_batch = 0;  // of the epoch's plan
  double training_seconds = 0;
  uint64_t metrics_size = 0;
  int64_t validated_step = 0;  // the last one that was validated
  int64_t best_step = 0;       // 0 if there was no validation yet
  ValidationScore best;
  int64_t validations_without_best = 0;
  uint64_t data_fingerprint = 0;
  std::vector<int64_t> average_steps;  // whose weights are in average/
};

SafeTensors checkpoint_contents(const TrainingTask& task, const AdamW& optimizer, const RunState& state,
                                const ModelInfo& info);
// Throws InputError if the contents are no checkpoint.
RunState restore_checkpoint(const SafeTensors& contents, const std::string& path, AdamW& optimizer);

}  // namespace glass
