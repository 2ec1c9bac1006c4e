#include "glassformer/inspect/metrics_file.h"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "glassformer/base/error.h"

namespace glass {

namespace {

using Json = nlohmann::ordered_json;

MetricsLine metrics_of(const Json& json) {
  MetricsLine line{json.at("step").get_ref<const int64_t&>(), {}};
  for (const auto& [name, value] : json.items()) {
    if (name != "step" && value.is_number()) line.values.emplace_back(name, value.get<double>());
  }
  return line;
}

}  // namespace

std::vector<MetricsLine> read_metrics_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw InputError(path + ": cannot be opened; name the folder of a run, which holds its metrics.jsonl");
  std::vector<MetricsLine> lines;
  std::string text;
  for (int64_t number = 1; std::getline(file, text); ++number) {
    const bool cut_off = file.eof();  // no line end behind it
    try {
      lines.push_back(metrics_of(Json::parse(text)));
    } catch (const Json::exception& error) {
      if (!cut_off) throw InputError(fmt::format("{}:{}: no metrics: {}", path, number, error.what()));
    }
  }
  if (lines.empty()) throw InputError(path + ": holds no metrics yet");
  return lines;
}

}  // namespace glass
