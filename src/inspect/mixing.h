// Where positions that should stay apart begin to mix.
#pragma once

#include <optional>
#include <string>

#include "glassformer/inspect/probe.h"

namespace glass {

// The first tap, in the order of the computation, in which rows change that may not.
struct Mixing {
  std::string path, before;  // of the tap, and of the one before it
  Dim changed = 0;           // elements of the first example, in any row
  Dim columns = 0;           // elements of one row of it
};

// Both batches differ in position `changed` of one side, which has `length` positions: `may_change` says of which rows
// of a tap that is allowed. Taps of another length, and scores, which are taken before the mask, are passed over.
struct RowRule {
  Dim length = 0;
  Dim changed = 0;
  bool later_too = false;  // rows after it may change as well
};
std::optional<Mixing> first_mixing(const Probe& probe, const ProbeBatch& batch, const ProbeBatch& other,
                                   const RowRule& rule);

}  // namespace glass
