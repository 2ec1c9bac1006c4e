// The training loop.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "glassformer/autograd/precision.h"
#include "glassformer/train/optimizer.h"
#include "glassformer/train/recipe.h"

namespace glass {

class Module;

// What one update did to a part of the model: a layer, an embedding, a norm, the output.
struct PartMetrics {
  std::string part;         // "encoder.layers.0"
  double grad_norm = 0;     // of the mean loss, before clipping
  double update_ratio = 0;  // ‖change of its weights‖/‖its weights before‖; about 1e-3 is usual
};

// What is known at one step; a line of metrics.jsonl.
struct StepMetrics {
  int64_t step = 0;
  std::optional<double> loss, nll, lr, grad_norm, tokens_per_second;
  std::optional<double> valid_nll, valid_ppl, valid_bleu, valid_chrf;
  std::vector<PartMetrics> parts = {};  // of an update; in the file "grad_norm.PART" and "update_ratio.PART"
};

// Told of what happens; the library itself never prints. All calls come from the thread that trains.
class TrainObserver {
 public:
  virtual ~TrainObserver() = default;
  virtual void on_note(const std::string& /*text*/) {}
  virtual void on_warning(const std::string& /*text*/) {}
  // After every update. `total` is the last step if that is known, else 0; `fraction` of the run done, in [0,1].
  virtual void on_progress(int64_t /*step*/, int64_t /*total*/, double /*fraction*/, double /*tokens_per_second*/) {}
  virtual void on_metrics(const StepMetrics& /*metrics*/) {}
};

enum class StopReason { limit, patience, requested };

struct TrainResult {
  StopReason reason = StopReason::limit;
  int64_t step = 0;
  double training_seconds = 0;
  std::string model_path;    // empty if stopped by request: then the checkpoint is what is left
  std::string model_choice;  // "best at step 1200", "average of the last 5"
};

// Files in `directory`: recipe.toml, metrics.jsonl, checkpoint.safetensors, best.safetensors, average/,
// model.safetensors. docs/file-format.md says what each holds.
struct TrainOptions {
  std::string directory;
  bool resume = false;                                // go on from its checkpoint
  const std::atomic<bool>* stop_requested = nullptr;  // looked at after each update; a signal handler may set it
  // Called once with the fresh model, before the first update of a run that does not go on; what it throws ends the
  // run.
  std::function<void(Module& model)> before_first_update = {};
};

// Trains by the recipe. Throws InputError for a recipe or data that do not work, NonFiniteError when the loss is lost
// (the last checkpoint is kept), SystemError if the model cannot be written in the end.
TrainResult train(const Recipe& recipe, const TrainOptions& options, TrainObserver& observer);

// The learning rate's schedule, as the recipe says; without train.steps its end is not known before the run.
ScheduleOptions schedule_options(const Recipe& recipe);

// What products with weights are computed in: the recipe's choice, or for "auto" bf16 where the processor has it.
Precision training_precision(const Recipe& recipe);

// The recipe of a run that is to go on.
Recipe recipe_of_run(const std::string& directory);

}  // namespace glass
