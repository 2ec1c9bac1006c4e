// What a model is trained to do: its data in batches, its loss, its validation. The trainer knows nothing else of it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "glassformer/decode/saved_model.h"
#include "glassformer/train/recipe.h"

namespace glass {

// The loss of one micro-batch, summed: micro-batches add up, and the step divides once by all of their terms.
struct LossSum {
  Tensor loss;              // scalar, part of a gradient graph
  double nll = 0;           // without smoothing; for forecasts, the sum of squared errors
  int64_t terms = 0;        // what the sum is over: real target tokens, or numbers
  int64_t real_tokens = 0;  // of both sides, for the rate
  int64_t examples = 0;
};

struct ValidationScore {
  double nll = 0;  // mean; for forecasts the mean squared error
  std::optional<double> bleu, chrf;
  bool is_better_than(const ValidationScore& other, const std::string& best_by) const;
};

// What was noticed while the data were prepared, for people: "3 lines longer than 100 tokens were skipped".
using Notes = std::vector<std::string>;

class TrainingTask {
 public:
  virtual ~TrainingTask() = default;
  virtual Module& module() = 0;
  // Plans an epoch; the number of its batches, never 0.
  virtual int64_t begin_epoch(int64_t epoch) = 0;
  // Forward pass of a planned batch. Deterministic given the RandomScope.
  virtual LossSum loss(int64_t batch) = 0;
  virtual ValidationScore validate() = 0;
  // "examples 12, 907: Nobody wants …": for the report of a failure.
  virtual std::string describe(int64_t batch) const = 0;
  // The planned batch that needs most memory.
  virtual int64_t largest_batch() const = 0;
  // Throws Error if the model lets the future or padding through (a perturbation test, on real data).
  virtual void check_leaks() = 0;
  // The loss that a fresh model should have on batch 0 given its own logits, and the loss it has.
  struct FirstLoss {
    double expected = 0, measured = 0;
    bool is_plausible = false;  // they differ by less than a tenth
    std::string explanation;
  };
  virtual FirstLoss first_loss() = 0;
  virtual SafeTensors contents(const ModelInfo& info) const = 0;
  // Of all that is trained on, in order: a run goes on with the same data only.
  virtual uint64_t data_fingerprint() const = 0;
  virtual const Notes& notes() const = 0;
};

// Reads the data, trains the tokenizers (or takes them from `resumed`) and builds the model. Throws InputError.
std::unique_ptr<TrainingTask> make_translation_task(const Recipe& recipe, const SafeTensors* resumed);
std::unique_ptr<TrainingTask> make_forecast_task(const Recipe& recipe, const SafeTensors* resumed);
std::unique_ptr<TrainingTask> make_task(const Recipe& recipe, const SafeTensors* resumed);

}  // namespace glass
