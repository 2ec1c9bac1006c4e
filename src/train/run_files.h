// The files of a run's folder.
#pragma once

#include <string>
#include <vector>

#include "glassformer/train/trainer.h"

namespace glass {

class RunFiles {
 public:
  // Makes the folder, and removes what a killed run left half-written in it. Throws SystemError.
  explicit RunFiles(std::string directory);

  std::string path(const char* name) const;
  std::string checkpoint() const { return path("checkpoint.safetensors"); }
  std::string best() const { return path("best.safetensors"); }
  std::string model() const { return path("model.safetensors"); }
  std::string average(int64_t step) const;

  // Throws InputError if the folder holds a run that stopped before its end: a new one would destroy it.
  void require_no_unfinished_run() const;
  // Removes an earlier run's files.
  void clear();
  void write_recipe(const Recipe& recipe) const;
  void remove_averages_except(const std::vector<int64_t>& steps) const;
  // Appends one line and flushes it, or nothing if the disk is full.
  void append_metrics(const StepMetrics& metrics);
  uint64_t metrics_size() const { return metrics_size_; }
  // Cuts metrics.jsonl to what a checkpoint knew of, so that a resumed run writes no line twice.
  void truncate_metrics(uint64_t size);

 private:
  std::string directory_;
  uint64_t metrics_size_ = 0;
};

}  // namespace glass
