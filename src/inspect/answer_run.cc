#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "glassformer/inspect/training_curves.h"
#include "inspect/answers.h"

namespace glass {

namespace {

namespace fs = std::filesystem;

fs::path metrics_of(const std::string& folder) { return fs::path(folder) / "metrics.jsonl"; }
fs::path state_of(const std::string& folder) { return fs::path(folder) / "run.state"; }

// Whether another process holds the lock of the file, as a run that goes on does.
bool is_locked(const fs::path& file) {
  const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  const bool locked = flock(descriptor, LOCK_SH | LOCK_NB) != 0;
  close(descriptor);
  return locked;
}

// The lock is asked for only where the run is not finished: a run that begins must find it free.
bool is_live(const std::string& folder) {
  std::ifstream file(state_of(folder));
  std::string state;
  return std::getline(file, state) && state == "unfinished" && is_locked(state_of(folder));
}

}  // namespace

bool is_run(const std::string& folder) {
  std::error_code ignored;
  return fs::is_regular_file(metrics_of(folder), ignored) || fs::is_regular_file(state_of(folder), ignored);
}

Json run_summary(const std::string& folder) {
  const fs::path path = fs::path(folder).lexically_normal();
  const fs::path name = path.has_filename() ? path.filename() : path.parent_path().filename();
  return {{"name", name.string()}, {"live", is_live(folder)}};
}

std::string run_stamp(const std::string& folder) {
  std::string stamp;
  for (const char* name : {"metrics.jsonl", "best.safetensors", "model.safetensors"}) {
    std::error_code missing;
    const fs::path path = fs::path(folder) / name;
    const auto size = fs::file_size(path, missing);
    const auto time = fs::last_write_time(path, missing).time_since_epoch().count();
    stamp += missing ? "-," : std::to_string(size) + " " + std::to_string(time) + ",";
  }
  return stamp;
}

// --- series

namespace {

struct Wanted {
  std::vector<std::string> names;  // all if there is none
  double from = 0;
  size_t points = 400;

  bool has(const std::string& name) const {
    return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
  }
};

Wanted wanted_in(const Question& question) {
  Wanted wanted;
  wanted.from = static_cast<double>(whole_number_in(question, "from", 0, int64_t{1} << 53, 0));
  wanted.points = static_cast<size_t>(whole_number_in(question, "points", 1, 10'000, 400));
  const auto names = question.query.find("names");
  if (names == question.query.end()) return wanted;
  std::istringstream list(names->second);
  for (std::string name; std::getline(list, name, ',');) wanted.names.push_back(name);
  return wanted;
}

using Points = std::vector<std::pair<double, double>>;

// [first step, last step, min, max, last] of the points [begin,end).
Json bin_json(const Points& points, size_t begin, size_t end) {
  double low = points[begin].second, high = low;
  for (size_t i = begin; i < end; ++i) {
    low = std::min(low, points[i].second);
    high = std::max(high, points[i].second);
  }
  const auto step = [&](size_t i) { return static_cast<int64_t>(points[i].first); };
  return {step(begin), step(end - 1), low, high, points[end - 1].second};
}

// Bins of as equal a number of points as can be.
Json bins_json(const Points& points, size_t most) {
  const size_t bins = std::min(most, points.size());
  Json json = Json::array();
  for (size_t i = 0; i < bins; ++i) {
    json.push_back(bin_json(points, i * points.size() / bins, (i + 1) * points.size() / bins));
  }
  return json;
}

// A run that has only begun has no metrics yet, or the first of them is being written.
std::vector<MetricsLine> lines_of(const std::string& folder) {
  std::ifstream file(metrics_of(folder));
  std::string first;
  if (!std::getline(file, first) || file.eof()) return {};
  return read_metrics_file(metrics_of(folder).string());
}

}  // namespace

Answer answer_series(const std::string& folder, const Question& question) {
  const Wanted wanted = wanted_in(question);
  const std::vector<MetricsLine> lines = lines_of(folder);
  Json series = Json::object();
  for (const TrainingCurve& curve : curves_of(lines)) {
    if (!wanted.has(curve.name)) continue;
    Points points = curve.points;
    std::erase_if(points, [&](const auto& point) { return point.first < wanted.from; });
    series[curve.name] = bins_json(points, wanted.points);
  }
  return json_answer({{"last_step", lines.empty() ? 0 : lines.back().step}, {"series", series}});
}

}  // namespace glass
