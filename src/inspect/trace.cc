#include "glassformer/inspect/trace.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "glassformer/autograd/autograd.h"
#include "glassformer/autograd/tap.h"
#include "glassformer/base/error.h"
#include "glassformer/nn/module.h"

namespace glass {

namespace {

size_t common_end(std::string_view a, std::string_view b) {
  size_t count = 0;
  while (count < std::min(a.size(), b.size()) && a[a.size() - 1 - count] == b[b.size() - 1 - count]) ++count;
  return count;
}

bool matches_any(const std::vector<std::string>& patterns, const std::string& path) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& pattern) { return path_matches(pattern, path); });
}

}  // namespace

// At a mismatch the latest * takes one character more: earlier ones need not be tried again.
bool path_matches(std::string_view pattern, std::string_view path) {
  size_t p = 0, at = 0, star = std::string_view::npos, taken = 0;
  while (at < path.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = at;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == path[at])) {
      ++p;
      ++at;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      at = ++taken;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

void TensorSummary::add(const Tensor& tensor) {
  shape = tensor.shape();
  dtype = tensor.dtype();
  ++tensors;
  numbers.add(tensor);
}

TensorSummary TraceEntry::summary() const {
  TensorSummary out = running;
  if (value.defined()) out.add(value);
  return out;
}

TensorSummary TraceEntry::gradient_summary() const {
  TensorSummary out = running_gradient;
  if (gradient.defined()) out.add(gradient);
  return out;
}

Trace Trace::record(const std::function<void()>& computation, TraceOptions options) {
  Trace trace(std::move(options));
  trace.extend(computation);
  return trace;
}

bool Trace::is_wanted(const std::string& path) const {
  return matches_any(options_.patterns, path) && !matches_any(options_.left_out, path);
}

bool Trace::keeps_values_of(const std::string& path) const {
  return options_.keep_values && !matches_any(options_.summed_up, path);
}

// A new entry; the one there is if it holds statistics, which any number of tensors share.
size_t Trace::place_of(const std::string& path, TraceSource source) {
  const auto [known, is_new] = first_.try_emplace(path, entries_.size());
  if (!is_new && !keeps_values_of(path)) return known->second;
  TraceEntry& entry = entries_.emplace_back();
  entry.path = path;
  entry.source = source;
  return entries_.size() - 1;
}

size_t Trace::take(const std::string& path, const Tensor& value, TraceSource source) {
  const size_t place = place_of(path, source);
  if (keeps_values_of(path)) {
    entries_[place].value = value;
  } else {
    entries_[place].running.add(value);
  }
  return place;
}

void Trace::take_gradient(TraceEntry& entry, const Tensor& gradient) {
  if (!gradient.defined()) {
    if (entry.gradient_state == GradientState::not_asked) entry.gradient_state = GradientState::not_reached;
    return;
  }
  entry.gradient_state = GradientState::kept;
  if (keeps_values_of(entry.path)) {
    entry.gradient = gradient;
  } else {
    entry.running_gradient.add(gradient);
  }
}

void Trace::extend(const std::function<void()>& computation) {
  std::vector<Awaited> awaited;
  const ListenToTaps listen([&](const std::string& path, const Tensor& value) {
    if (!is_wanted(path)) return;
    const size_t place = take(path, value, TraceSource::tap);
    if (!options_.gradients) return;
    if (needs_grad({value})) {
      retain_grad(value);
      awaited.push_back({place, value});
    } else if (entries_[place].gradient_state == GradientState::not_asked) {
      entries_[place].gradient_state = GradientState::outside_graph;
    }
  });
  std::optional<ObserveOutputs> observe;
  if (options_.operations) {
    observe.emplace([&](const char* operation, const Tensor& output, const Tensors& /*inputs*/) {
      const std::string path = scope_path(operation);
      if (is_wanted(path)) take(path, output, TraceSource::operation);
    });
  }
  computation();
  for (const Awaited& one : awaited) take_gradient(entries_[one.entry], one.value.grad());
}

void Trace::add_parameters(const Module& module) {
  std::unordered_set<const void*> seen;
  for (const NamedParameter& parameter : module.named_parameters()) {
    if (!seen.insert(parameter.tensor.id()).second || !is_wanted(parameter.name)) continue;
    const size_t place = take(parameter.name, parameter.tensor, TraceSource::parameter);
    if (options_.gradients) take_gradient(entries_[place], parameter.tensor.grad());
  }
}

bool Trace::has(const std::string& path) const { return first_.count(path) != 0; }

const TraceEntry& Trace::entry(const std::string& path) const {
  const auto found = first_.find(path);
  if (found != first_.end()) return entries_[found->second];
  const TraceEntry* nearest = nullptr;
  for (const TraceEntry& other : entries_) {
    if (nearest == nullptr || common_end(other.path, path) > common_end(nearest->path, path)) nearest = &other;
  }
  throw InputError("trace: nothing was tapped at \"" + path + "\"" +
                   (nearest == nullptr ? "" : "; there is \"" + nearest->path + "\""));
}

const Tensor& Trace::at(const std::string& path) const {
  const TraceEntry& found = entry(path);
  if (found.value.defined()) return found.value;
  throw InputError("trace: of \"" + path + "\" only statistics were kept; record it with keep_values");
}

std::vector<std::string> Trace::matching(const std::string& pattern) const {
  std::vector<std::string> paths;
  for (const TraceEntry& entry : entries_) {
    if (path_matches(pattern, entry.path)) paths.push_back(entry.path);
  }
  return paths;
}

}  // namespace glass
