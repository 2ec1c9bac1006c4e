// A report: the inspector's page with its answers inside, in one file that opens from disk.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "glassformer/inspect/inspector.h"

namespace glass::program {

struct ReportOptions {
  std::vector<std::string> sources;   // a trace of each
  std::optional<std::string> target;  // of a single one; the model's own translations without
  bool with_run = false;              // the inspector has a run
  size_t most_bytes = 10 << 20;       // what is largest is left out above this
};

struct Report {
  std::string html;
  std::vector<std::string> left_out;  // in words; empty if all is there
};

// Asks `inspector` all that docs/inspector-api.md lists under "Reports". Throws InputError if a sentence cannot be
// traced or the program has no page.
Report make_report(Inspector& inspector, const ReportOptions& options);

}  // namespace glass::program
