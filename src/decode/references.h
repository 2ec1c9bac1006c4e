// What BLEU and chrF ask of their references.
#pragma once

#include <fmt/format.h>

#include "glassformer/base/error.h"
#include "glassformer/decode/bleu.h"

namespace glass {

inline void check_references(const char* metric, size_t hypotheses, const References& references) {
  if (references.empty()) throw InputError(fmt::format("{}: no reference", metric));
  for (const auto& reference : references) {
    if (reference.size() == hypotheses) continue;
    throw InputError(fmt::format("{}: {} hypotheses for {} reference lines", metric, hypotheses, reference.size()));
  }
}

}  // namespace glass
