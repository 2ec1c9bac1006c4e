// Where in a model the calling thread is: `decoder.layers.3.cross_attn`. Calling a module pushes its name; error
// messages, taps, profiles and random streams read the path.
#pragma once

#include <string>
#include <string_view>

namespace glass {

// Pushes a name for its lifetime, on the calling thread only. Keeps the view, not a copy: the characters must outlive
// the scope. An empty name adds nothing to the path.
class Scope {
 public:
  explicit Scope(std::string_view name);
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
};

// The names from the outermost to the innermost, joined by dots; empty outside of any scope.
std::string scope_path();

// The path of `name` inside the current scope.
std::string scope_path(std::string_view name);

// A 64-bit hash of scope_path(), computed without allocating.
unsigned long long scope_hash();

}  // namespace glass
