// What a training run shows: a bar on a terminal, plain lines elsewhere.
#pragma once

#include <chrono>
#include <string>

#include "glassformer/train/trainer.h"

namespace glass::program {

class ProgressView : public TrainObserver {
 public:
  ProgressView();
  ~ProgressView() override;
  void on_note(const std::string& text) override;
  void on_warning(const std::string& text) override;
  void on_progress(int64_t step, int64_t total, double fraction, double tokens_per_second) override;
  void on_metrics(const StepMetrics& metrics) override;

 private:
  void clear_bar();

  bool terminal_;
  bool bar_shown_ = false;
  std::chrono::steady_clock::time_point start_, last_drawn_;
};

}  // namespace glass::program
