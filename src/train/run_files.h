// The files of a run's folder.
#pragma once

#include <string>

#include "glassformer/train/trainer.h"

namespace glass {

class RunFiles {
 public:
  // Makes the folder. Throws SystemError.
  explicit RunFiles(std::string directory);

  std::string path(const char* name) const;
  std::string checkpoint() const { return path("checkpoint.safetensors"); }
  std::string best() const { return path("best.safetensors"); }
  std::string model() const { return path("model.safetensors"); }
  std::string average(int64_t step) const;

  void write_recipe(const Recipe& recipe) const;
  // Appends one line and flushes it.
  void append_metrics(const StepMetrics& metrics);
  uint64_t metrics_size() const { return metrics_size_; }
  // Cuts metrics.jsonl to what a checkpoint knew of, so that a resumed run writes no line twice.
  void truncate_metrics(uint64_t size);

 private:
  std::string directory_;
  uint64_t metrics_size_ = 0;
};

}  // namespace glass
