#include "glassformer/inspect/trace.h"

#include <algorithm>
#include <string_view>

#include "glassformer/autograd/tap.h"
#include "glassformer/base/error.h"

namespace glass {

namespace {

bool matches(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] == '*') return matches(pattern.substr(1), text) || (!text.empty() && matches(pattern, text.substr(1)));
  return !text.empty() && (pattern[0] == '?' || pattern[0] == text[0]) && matches(pattern.substr(1), text.substr(1));
}

size_t common_end(std::string_view a, std::string_view b) {
  size_t count = 0;
  while (count < std::min(a.size(), b.size()) && a[a.size() - 1 - count] == b[b.size() - 1 - count]) ++count;
  return count;
}

}  // namespace

Trace Trace::record(const std::function<void()>& computation) {
  Trace trace;
  const ListenToTaps listen([&](const std::string& path, const Tensor& value) {
    trace.entries_.push_back({path, value});
  });
  computation();
  return trace;
}

bool Trace::has(const std::string& path) const {
  return std::any_of(entries_.begin(), entries_.end(), [&](const TraceEntry& entry) { return entry.path == path; });
}

const Tensor& Trace::at(const std::string& path) const {
  const TraceEntry* nearest = nullptr;
  for (const TraceEntry& entry : entries_) {
    if (entry.path == path) return entry.value;
    if (nearest == nullptr || common_end(entry.path, path) > common_end(nearest->path, path)) nearest = &entry;
  }
  throw InputError("trace: nothing was tapped at \"" + path + "\"" +
                   (nearest == nullptr ? "" : "; there is \"" + nearest->path + "\""));
}

std::vector<std::string> Trace::matching(const std::string& pattern) const {
  std::vector<std::string> paths;
  for (const TraceEntry& entry : entries_) {
    if (matches(pattern, entry.path)) paths.push_back(entry.path);
  }
  return paths;
}

}  // namespace glass
