#include "train/run_files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "glassformer/base/atomic_file.h"
#include "glassformer/base/error.h"

namespace glass {

namespace {

namespace fs = std::filesystem;

constexpr const char* metrics_name = "metrics.jsonl";
constexpr const char* averages_name = "average";
constexpr const char* recipe_name = "recipe.toml";
constexpr const char* state_name = "run.state";
constexpr const char* unfinished = "unfinished\n";
constexpr const char* finished = "finished\n";

// "step-120.safetensors"
bool is_average(const fs::path& file) {
  const std::string name = file.stem().string();
  return file.extension() == ".safetensors" && name.starts_with("step-") && name.size() > 5 &&
         name.find_first_not_of("0123456789", 5) == std::string::npos;
}

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
  for (const PartMetrics& part : m.parts) {
    json["grad_norm." + part.part] = part.grad_norm;
    json["update_ratio." + part.part] = part.update_ratio;
  }
  return json.dump() + "\n";
}

// Temporary files of AtomicFile that were never renamed.
void remove_half_written(const fs::path& folder) {
  std::error_code ignored;
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.find(".safetensors.tmp") != std::string::npos || name.starts_with("recipe.toml.tmp"))
      found.push_back(entry.path());
  }
  for (const fs::path& path : found) fs::remove(path, ignored);
}

}  // namespace

RunFiles::RunFiles(std::string directory) : directory_(std::move(directory)) {
  if (directory_.empty()) throw InputError("the run's folder has no name; give one by --out");
  std::error_code error;
  const fs::path averages = fs::path(directory_) / averages_name;
  is_new_ = !fs::exists(directory_, error);
  fs::create_directories(averages, error);
  if (error) throw SystemError(directory_ + ": the folder cannot be made: " + error.message());
  lock();
  remove_half_written(directory_);
  remove_half_written(averages);
}

std::string RunFiles::path(const char* name) const { return (fs::path(directory_) / name).string(); }

std::string RunFiles::average(int64_t step) const {
  return (fs::path(directory_) / averages_name / ("step-" + std::to_string(step) + ".safetensors")).string();
}

RunFiles::~RunFiles() {
  if (is_new_ && !begun_) remove_if_new();
  if (state_file_ >= 0) close(state_file_);
}

// What a run that was refused would leave; nothing that holds anything.
void RunFiles::remove_if_new() const {
  std::error_code ignored;
  fs::remove(path(state_name), ignored);
  fs::remove(path(averages_name), ignored);
  fs::remove(directory_, ignored);
}

void RunFiles::lock() {
  const std::string name = path(state_name);
  state_file_ = open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (state_file_ < 0) throw SystemError(name + ": cannot be opened: " + std::strerror(errno));
  if (flock(state_file_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    close(std::exchange(state_file_, -1));
    throw InputError(directory_ + ": another process trains in this folder; name another, or wait for its end");
  }
  char text[32] = {};
  const ssize_t got = pread(state_file_, text, sizeof text, 0);
  found_state_.assign(text, static_cast<size_t>(std::max<ssize_t>(0, got)));
}

void RunFiles::write_state(const std::string& state) {
  const bool good = ftruncate(state_file_, 0) == 0 &&
                    pwrite(state_file_, state.data(), state.size(), 0) == static_cast<ssize_t>(state.size());
  if (!good) throw SystemError(path(state_name) + ": cannot be written: " + std::strerror(errno));
}

void RunFiles::begin() {
  write_state(unfinished);
  begun_ = true;
}
void RunFiles::finish() { write_state(finished); }

bool RunFiles::holds_finished_run() const { return found_state_ == finished; }

void RunFiles::require_free() const {
  std::error_code ignored;
  if (found_state_ == unfinished && fs::exists(checkpoint(), ignored)) {
    throw InputError(directory_ +
                     ": holds an unfinished run; go on with it by --resume, name another folder, or remove it");
  }
  if (found_state_ == unfinished || found_state_ == finished) return;
  for (const std::string& file : {checkpoint(), best(), model(), path(metrics_name), path(recipe_name)}) {
    if (!fs::exists(file, ignored)) continue;
    throw InputError(file + ": would be replaced, but the folder is not one of a run; name another folder for the run");
  }
}

void RunFiles::clear() {
  std::error_code ignored;
  for (const std::string& file : {checkpoint(), best()}) fs::remove(file, ignored);
  remove_averages_except({});
  truncate_metrics(0);
}

void RunFiles::remove_averages_except(const std::vector<int64_t>& steps) const {
  std::error_code ignored;
  std::vector<fs::path> unwanted;
  for (const auto& entry : fs::directory_iterator(fs::path(directory_) / averages_name, ignored)) {
    const auto is_kept = [&](int64_t step) { return fs::path(average(step)).filename() == entry.path().filename(); };
    if (is_average(entry.path()) && std::none_of(steps.begin(), steps.end(), is_kept)) unwanted.push_back(entry.path());
  }
  for (const fs::path& path : unwanted) fs::remove(path, ignored);
}

void RunFiles::write_recipe(const Recipe& recipe) const {
  AtomicFile file(path(recipe_name));
  const std::string text = recipe_text(recipe);
  file.write(text.data(), text.size());
  file.commit();
}

void RunFiles::append_metrics(const StepMetrics& metrics) {
  const std::string line = metrics_line(metrics);
  {
    std::ofstream file(path(metrics_name), std::ios::app | std::ios::binary);
    file << line << std::flush;
    if (file) metrics_size_ += line.size();
    if (file) return;
  }
  truncate_metrics(metrics_size_);  // a full disk costs the line, not the run
}

void RunFiles::truncate_metrics(uint64_t size) {
  std::error_code error;
  const std::string name = path(metrics_name);
  const uint64_t held = fs::exists(name, error) ? fs::file_size(name, error) : 0;
  if (held > size) fs::resize_file(name, size, error);
  metrics_size_ = std::min(held, size);
}

Recipe recipe_of_run(const std::string& directory) {
  const std::string path = (fs::path(directory) / recipe_name).string();
  std::error_code error;
  if (!fs::exists(path, error)) {
    throw InputError(directory + ": no run to go on with: it holds no recipe.toml");
  }
  return read_recipe(path);
}

}  // namespace glass
