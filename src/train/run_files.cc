#include "train/run_files.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "glassformer/base/atomic_file.h"
#include "glassformer/base/error.h"

namespace glass {

namespace {

constexpr const char* metrics_name = "metrics.jsonl";

std::string metrics_line(const StepMetrics& m) {
  nlohmann::ordered_json json;
  json["step"] = m.step;
  auto add = [&](const char* name, const std::optional<double>& value) {
    if (value) json[name] = *value;
  };
  add("loss", m.loss);
  add("nll", m.nll);
  add("lr", m.lr);
  add("grad_norm", m.grad_norm);
  add("tokens_per_second", m.tokens_per_second);
  add("valid_nll", m.valid_nll);
  add("valid_ppl", m.valid_ppl);
  add("valid_bleu", m.valid_bleu);
  add("valid_chrf", m.valid_chrf);
  return json.dump() + "\n";
}

}  // namespace

RunFiles::RunFiles(std::string directory) : directory_(std::move(directory)) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(directory_) / "average", error);
  if (error) throw SystemError(directory_ + ": the folder cannot be made: " + error.message());
}

std::string RunFiles::path(const char* name) const { return (std::filesystem::path(directory_) / name).string(); }

std::string RunFiles::average(int64_t step) const {
  return (std::filesystem::path(directory_) / "average" / ("step-" + std::to_string(step) + ".safetensors")).string();
}

void RunFiles::write_recipe(const Recipe& recipe) const {
  AtomicFile file(path("recipe.toml"));
  const std::string text = recipe_text(recipe);
  file.write(text.data(), text.size());
  file.commit();
}

void RunFiles::append_metrics(const StepMetrics& metrics) {
  const std::string line = metrics_line(metrics);
  std::ofstream file(path(metrics_name), std::ios::app | std::ios::binary);
  file << line << std::flush;
  if (file) metrics_size_ += line.size();  // a full disk costs the line, not the run
}

void RunFiles::truncate_metrics(uint64_t size) {
  std::error_code error;
  const std::string name = path(metrics_name);
  const uint64_t held = std::filesystem::exists(name, error) ? std::filesystem::file_size(name, error) : 0;
  if (held > size) std::filesystem::resize_file(name, size, error);
  metrics_size_ = std::min(held, size);
}

Recipe recipe_of_run(const std::string& directory) {
  const std::string path = (std::filesystem::path(directory) / "recipe.toml").string();
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    throw InputError(directory + ": no run to go on with: it holds no recipe.toml");
  }
  return read_recipe(path);
}

}  // namespace glass
