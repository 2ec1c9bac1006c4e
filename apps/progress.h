// What a training run shows: a bar on a terminal, plain lines elsewhere.
#pragma once

#include <chrono>
#include <optional>
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

  using Clock = std::chrono::steady_clock;
  // Where the first update found the run, which may go on from a checkpoint: the rate of progress counts from here.
  struct Start {
    Clock::time_point time;
    double fraction;
  };

  bool terminal_;
  bool bar_shown_ = false;
  std::optional<Start> start_;
  Clock::time_point last_drawn_;
};

}  // namespace glass::program
