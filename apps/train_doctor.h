// The doctor while a run goes on, in short: a line for each fault, once.
#pragma once

#include <set>
#include <vector>

#include "glassformer/inspect/finding.h"
#include "glassformer/train/recipe.h"
#include "progress.h"

namespace glass::program {

class TrainDoctor : public ProgressView {
 public:
  explicit TrainDoctor(const Recipe& recipe) : recipe_(recipe) {}
  void look_at(Module& fresh_model);
  // Keeps the history, and looks at it with each validation.
  void on_metrics(const StepMetrics& metrics) override;

 private:
  void report(const Findings& findings);

  const Recipe& recipe_;
  std::vector<StepMetrics> history_;
  std::set<std::string> said_;
};

}  // namespace glass::program
