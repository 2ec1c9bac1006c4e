// What the history of a run says: its metrics.jsonl.
#pragma once

#include <string>
#include <vector>

#include "glassformer/inspect/finding.h"
#include "glassformer/train/trainer.h"

namespace glass {

// What the checks know of a metrics.jsonl. Throws as read_metrics_file() (inspect/metrics_file.h) does.
std::vector<StepMetrics> read_metrics(const std::string& path);

// "overfitting": validation has risen for three validations or more since its best, while training still falls.
Findings check_overfitting(const std::vector<StepMetrics>& history);
// "loss spikes": one value rises by a large part of what the loss had fallen, and far more than values usually differ;
// "divergence": it rises and stays up; "no progress": it does not fall; "exploding gradients": the norm grows tenfold
// over its median.
Findings check_loss_history(const std::vector<StepMetrics>& history);

// "update size": what an update changes of a part's weights, beside them, is usually far too much in some part or far
// too little in all.
Findings check_update_sizes(const std::vector<StepMetrics>& history);

}  // namespace glass
