#include "glassformer/inspect/trace_file.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "glassformer/base/error.h"

namespace glass {

namespace {

using Json = nlohmann::json;

constexpr const char* order_key = "order";

// The names that entries go by: a path that came before gets a number.
std::vector<std::string> distinct_names(const std::vector<TraceEntry>& entries) {
  std::map<std::string, int> times;
  std::vector<std::string> names;
  for (const TraceEntry& entry : entries) {
    const int time = ++times[entry.path];
    names.push_back(time == 1 ? entry.path : entry.path + "#" + std::to_string(time));
  }
  return names;
}

}  // namespace

SafeTensors trace_contents(const Trace& trace) {
  if (!trace.options().keep_values) {
    throw ValueError("trace: only statistics were kept, so there are no values to write; record it with keep_values");
  }
  SafeTensors contents;
  const std::vector<std::string> names = distinct_names(trace.entries());
  std::vector<std::string> order, of_taps, of_parameters;  // names, of values and of gradients
  for (size_t i = 0; i < names.size(); ++i) {
    const TraceEntry& entry = trace.entries()[i];
    if (entry.source != TraceSource::parameter && entry.value.defined()) {
      contents.tensors[names[i]] = entry.value.detach();
      order.push_back(names[i]);
    }
    if (entry.gradient.defined()) {
      contents.tensors[names[i] + ".grad"] = entry.gradient.detach();
      (entry.source == TraceSource::parameter ? of_parameters : of_taps).push_back(names[i] + ".grad");
    }
  }
  // The backward pass comes by in reverse.
  order.insert(order.end(), of_taps.rbegin(), of_taps.rend());
  order.insert(order.end(), of_parameters.rbegin(), of_parameters.rend());
  contents.metadata["format"] = "glassformer-trace";
  contents.metadata["format_version"] = "1";
  contents.metadata[order_key] = Json(order).dump();
  return contents;
}

std::vector<std::string> names_in_order(const SafeTensors& contents, const std::string& path) {
  std::vector<std::string> names;
  std::unordered_set<std::string> seen;
  const auto take = [&](const std::string& name) {
    if (contents.tensors.count(name) != 0 && seen.insert(name).second) names.push_back(name);
  };
  if (const auto order = contents.metadata.find(order_key); order != contents.metadata.end()) {
    try {
      for (const std::string& name : Json::parse(order->second).get<std::vector<std::string>>()) take(name);
    } catch (const Json::exception& error) {
      throw InputError(path + ": its \"order\" is not a list of names: " + error.what());
    }
  }
  for (const auto& [name, tensor] : contents.tensors) take(name);
  return names;
}

}  // namespace glass
