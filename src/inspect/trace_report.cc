#include "glassformer/inspect/trace_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>

namespace glass {

namespace {

using Json = nlohmann::ordered_json;
using Cells = std::array<std::string, 9>;

bool ends_in(const std::string& path, const std::string& name) { return path == name || path.ends_with("." + name); }

// Why there is no gradient; empty if there is one, or none was asked for.
std::string why_no_gradient(const TraceEntry& entry) {
  if (entry.gradient_state == GradientState::not_reached) {
    return "the loss does not depend on it";
  }
  if (entry.gradient_state != GradientState::outside_graph) return {};
  if (ends_in(entry.path, "scores") || ends_in(entry.path, "weights")) {
    return "fused attention never forms it: it was made on the side to be looked at, and no gradient flows through it";
  }
  return "a constant: nothing that is trained leads to it";
}

std::string number(double value, const TensorSummary& of) {
  return of.numbers.finite() > 0 ? fmt::format("{:.4g}", value) : "-";
}

Cells cells_of(const std::string& path, const TensorSummary& s) {
  const Statistics& n = s.numbers;
  return {path,
          std::string(dtype_name(s.dtype)),
          s.shape.text(),
          number(n.min, s),
          number(n.max, s),
          number(n.mean, s),
          number(n.deviation(), s),
          std::to_string(n.non_finite),
          std::to_string(s.tensors)};
}

constexpr size_t left_columns = 3;  // texts; numbers stand at the right

std::string table(const std::vector<Cells>& rows, size_t columns) {
  std::array<size_t, std::tuple_size_v<Cells>> widths{};
  for (const Cells& row : rows) {
    for (size_t i = 0; i < columns; ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string out;
  for (const Cells& row : rows) {
    std::string line;
    for (size_t i = 0; i < columns; ++i) {
      line += fmt::format(fmt::runtime(i < left_columns ? "{:<{}}  " : "{:>{}}  "), row[i], widths[i]);
    }
    out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return out;
}

std::string missing_gradients(const Trace& trace) {
  std::map<std::string, std::vector<std::string>> paths_by_reason;
  for (const TraceEntry& entry : trace.entries()) {
    if (const std::string why = why_no_gradient(entry); !why.empty()) paths_by_reason[why].push_back(entry.path);
  }
  std::string out;
  for (const auto& [why, paths] : paths_by_reason) {
    out += fmt::format("\nNo gradient of {} of these ({}):\n", paths.size(), why);
    for (const std::string& path : paths) out += "  " + path + "\n";
  }
  return out;
}

const char* source_name(TraceSource source) {
  return source == TraceSource::tap ? "tap" : source == TraceSource::operation ? "operation" : "parameter";
}

void put_numbers(const TensorSummary& s, Json& json) {
  const Statistics& n = s.numbers;
  const auto finite = [&](double value) { return n.finite() > 0 ? Json(value) : Json(nullptr); };
  json["min"] = finite(n.min);
  json["max"] = finite(n.max);
  json["mean"] = finite(n.mean);
  json["deviation"] = finite(n.deviation());
  json["count"] = n.count;
  json["non_finite"] = n.non_finite;
}

Json entry_json(const TraceEntry& entry) {
  const TensorSummary summary = entry.summary(), gradient = entry.gradient_summary();
  Json json{{"path", entry.path},
            {"source", source_name(entry.source)},
            {"type", dtype_name(summary.dtype)},
            {"shape", std::vector<Dim>(summary.shape.begin(), summary.shape.end())},
            {"tensors", summary.tensors}};
  put_numbers(summary, json);
  if (gradient.tensors > 0) {
    put_numbers(gradient, json["gradient"]);
  } else if (const std::string why = why_no_gradient(entry); !why.empty()) {
    json["gradient"] = {{"none", why}};
  }
  return json;
}

}  // namespace

std::string trace_text(const Trace& trace) {
  std::vector<Cells> rows{{"path", "type", "shape", "min", "max", "mean", "deviation", "non-finite", "tensors"}};
  bool several = false;
  for (const TraceEntry& entry : trace.entries()) {
    const TensorSummary summary = entry.summary(), gradient = entry.gradient_summary();
    several |= summary.tensors > 1;
    rows.push_back(cells_of(entry.path, summary));
    if (gradient.tensors > 0) rows.push_back(cells_of(entry.path + ".grad", gradient));
  }
  return table(rows, std::tuple_size_v<Cells> - (several ? 0 : 1)) + missing_gradients(trace);
}

std::string trace_json(const Trace& trace) {
  Json json = Json::array();
  for (const TraceEntry& entry : trace.entries()) json.push_back(entry_json(entry));
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace glass
