// The files of a run's folder.
#pragma once

#include <string>
#include <vector>

#include "glassformer/train/trainer.h"

namespace glass {

// Holds the folder for one process at a time, by a lock on its file "run.state", which also says whether the run there
// has come to its end.
class RunFiles {
 public:
  // Makes the folder, which goes again if no run begins in it, and removes what a killed run left half-written in it.
  // Throws SystemError if that cannot be done, InputError for no folder's name, or one in which another process trains.
  explicit RunFiles(std::string directory);
  ~RunFiles();
  RunFiles(const RunFiles&) = delete;
  RunFiles& operator=(const RunFiles&) = delete;

  std::string path(const char* name) const;
  std::string checkpoint() const { return path("checkpoint.safetensors"); }
  std::string best() const { return path("best.safetensors"); }
  std::string model() const { return path("model.safetensors"); }
  std::string average(int64_t step) const;

  // Throws InputError if a new run would destroy something: a run that stopped before its end, or files that are no
  // run's.
  void require_free() const;
  // Whether the folder holds a run that has come to its end, which the next one replaces.
  bool holds_finished_run() const;
  // From here on the folder holds a run that has not come to its end.
  void begin();
  void finish();
  // Removes an earlier run's files, but for its model, which stays until there is another.
  void clear();
  void write_recipe(const Recipe& recipe) const;
  void remove_averages_except(const std::vector<int64_t>& steps) const;
  // Appends one line and flushes it, or nothing if the disk is full.
  void append_metrics(const StepMetrics& metrics);
  uint64_t metrics_size() const { return metrics_size_; }
  // Cuts metrics.jsonl to what a checkpoint knew of, so that a resumed run writes no line twice.
  void truncate_metrics(uint64_t size);

 private:
  void lock();
  void remove_if_new() const;
  void write_state(const std::string& state);

  std::string directory_;
  bool is_new_ = false, begun_ = false;
  int state_file_ = -1;
  std::string found_state_;  // what the folder said when it was opened; empty if it was no run's
  uint64_t metrics_size_ = 0;
};

}  // namespace glass
