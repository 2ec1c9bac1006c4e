// What a run keeps beside its checkpoint: the best weights and those to be averaged; and the choice among them at the
// end.
#pragma once

#include <functional>
#include <string>

#include "glassformer/train/task.h"
#include "glassformer/train/trainer.h"
#include "train/checkpoint.h"
#include "train/run_files.h"

namespace glass {

class KeptWeights {
 public:
  // All must outlive this. `state` is the run's, read and changed: best, best_step, validations_without_best and
  // average_steps.
  KeptWeights(const Recipe& recipe, RunFiles& files, TrainingTask& task, RunState& state, TrainObserver& observer)
      : recipe_(recipe), files_(files), task_(task), state_(state), observer_(observer) {}

  // After a validation of the weights that the model now has.
  void judge(const ValidationScore& score);
  bool patience_is_over() const;
  // Writes a checkpoint, the old one staying if that fails. Throws SystemError only if it must succeed.
  void save_checkpoint(const AdamW& optimizer, bool must_succeed);
  // Leaves the weights that train.choose asks for in the model, and writes the model. Throws SystemError.
  void write_model(TrainResult& result);

 private:
  bool try_to_write(const std::string& path);
  void keep_for_average();
  ModelInfo info(int64_t step) const;
  // What is now in the model.
  struct Choice {
    std::string text;
    int64_t step = 0;
  };
  Choice choose();
  bool use_average();
  Choice use_best();

  const Recipe& recipe_;
  RunFiles& files_;
  TrainingTask& task_;
  RunState& state_;
  TrainObserver& observer_;
};

}  // namespace glass
