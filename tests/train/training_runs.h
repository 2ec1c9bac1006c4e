// Small runs for the tests: data, recipes, folders and an observer that remembers.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "glassformer/base/random.h"
#include "glassformer/base/threads.h"
#include "glassformer/tensor/safetensors.h"
#include "glassformer/train/recipe.h"
#include "glassformer/train/trainer.h"

namespace glass::test {

namespace fs = std::filesystem;

// A folder that goes when the test does.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "glassformer-train-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

// The models here are so small that several threads only wait for one another.
class OneThread : public testing::Environment {
 public:
  void SetUp() override { set_threads(1); }
};
inline const testing::Environment* const one_thread = testing::AddGlobalTestEnvironment(new OneThread);

inline void write_text(const std::string& path, const std::string& text) {
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

inline std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// `count` lines "a c b<TAB>b c a": sequences of 1 to `longest` of `letters` letters, and the same backwards.
inline std::string reversal_pairs(int count, int longest, int letters, uint64_t seed) {
  Random random(seed);
  std::string text;
  for (int line = 0; line < count; ++line) {
    std::string forwards, backwards;
    const uint64_t length = 1 + random.below(static_cast<uint64_t>(longest));
    for (uint64_t i = 0; i < length; ++i) {
      const char letter = static_cast<char>('a' + random.below(static_cast<uint64_t>(letters)));
      forwards += forwards.empty() ? std::string(1, letter) : std::string{' ', letter};
      backwards = backwards.empty() ? std::string(1, letter) : std::string{letter, ' '} + backwards;
    }
    text += forwards + "\t" + backwards + "\n";
  }
  return text;
}

// 100 pairs of up to 6 words in batches of 16 (7 an epoch), with dropout: a step takes milliseconds. Writes its data
// into the folder.
inline Recipe small_translation(const TemporaryFolder& folder) {
  write_text(folder / "train.tsv", reversal_pairs(100, 6, 5, 1));
  write_text(folder / "valid.tsv", reversal_pairs(20, 6, 5, 2));
  Recipe r;
  r.model.d_model = 16;
  r.model.heads = 2;
  r.model.layers = 1;
  r.data.pairs = folder / "train.tsv";
  r.data.valid_pairs = folder / "valid.tsv";
  r.data.vocab_model = "word";
  r.data.min_frequency = 1;
  r.train.batch_sentences = 16;
  r.train.lr = 3e-3;
  r.train.warmup_steps = 5;
  r.train.log_every = 1;
  r.train.validate_every = 1000;
  r.train.checkpoint_every = 1000;
  r.train.average_last = 0;
  return r;
}

inline Recipe small_forecast() {
  Recipe r;
  r.model.task = "forecast";
  r.model.d_model = 16;
  r.model.heads = 2;
  r.model.layers = 1;
  r.data.windows = 200;
  r.train.lr = 3e-3;
  r.train.warmup_steps = 5;
  r.train.validate_every = 1000;
  r.train.average_last = 0;
  return r;
}

class Recorder : public TrainObserver {
 public:
  void on_note(const std::string& text) override { notes += text + "\n"; }
  void on_warning(const std::string& text) override { warnings += text + "\n"; }
  void on_metrics(const StepMetrics& m) override {
    metrics.push_back(m);
    if (m.loss) at_step(m.step);
  }
  // What a test wants done after an update that is logged.
  std::function<void(int64_t step)> at_step = [](int64_t) {};

  std::string notes, warnings;
  std::vector<StepMetrics> metrics;
};

// Trains until `stop_at` updates are made, as Ctrl-C would; 0 for to the end.
inline TrainResult run(const Recipe& recipe, const std::string& directory, bool resume = false, int64_t stop_at = 0) {
  Recorder recorder;
  std::atomic<bool> stop{false};
  recorder.at_step = [&](int64_t step) { stop = step == stop_at; };
  return train(recipe, {directory, resume, &stop}, recorder);
}

// Every parameter and moment of a file, by name.
inline std::map<std::string, std::vector<double>> weights(const std::string& path) {
  std::map<std::string, std::vector<double>> out;
  for (const auto& [name, tensor] : read_safetensors(path).tensors) out[name] = tensor.to_vector();
  return out;
}

// Which of them differ; empty if none does. (gtest would print both in full.)
inline std::string differing(const std::map<std::string, std::vector<double>>& a,
                             const std::map<std::string, std::vector<double>>& b) {
  std::string names;
  for (const auto& [name, values] : a) {
    if (b.count(name) == 0 || b.at(name) != values) names += name + " ";
  }
  return a.size() == b.size() ? names : names + "(their number)";
}

// metrics.jsonl without the one value that is measured by the clock.
inline std::string metrics_without_rate(const std::string& directory) {
  std::istringstream lines(read_text(directory + "/metrics.jsonl"));
  std::string out;
  for (std::string line; std::getline(lines, line);) {
    auto json = nlohmann::ordered_json::parse(line);
    json.erase("tokens_per_second");
    out += json.dump() + "\n";
  }
  return out;
}

}  // namespace glass::test
