#include "glassformer/base/scope.h"

#include <vector>

#include "glassformer/base/random.h"

namespace glass {

namespace {
thread_local std::vector<std::string_view> stack;
}

Scope::Scope(std::string_view name) { stack.push_back(name); }
Scope::~Scope() { stack.pop_back(); }

std::string scope_path(std::string_view name) {
  std::string path;
  auto append = [&path](std::string_view part) {
    if (part.empty()) return;
    if (!path.empty()) path += '.';
    path += part;
  };
  for (const std::string_view part : stack) append(part);
  append(name);
  return path;
}

std::string scope_path() { return scope_path({}); }

unsigned long long scope_hash() {
  uint64_t hash = 0;
  for (const std::string_view part : stack) {
    if (!part.empty()) hash = hash_combine(hash, hash_text(part));
  }
  return hash;
}

}  // namespace glass
