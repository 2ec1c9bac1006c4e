#include "glassformer/base/error.h"

#include "glassformer/base/scope.h"

namespace glass {

namespace {

std::string with_scope(const std::string& message) {
  const std::string path = scope_path();
  return path.empty() ? message : message + " (in " + path + ")";
}

}  // namespace

Error::Error(const std::string& message) : std::runtime_error(with_scope(message)) {}

}  // namespace glass
