// The inspector's page: served, or as a report.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace glass::program {

struct PageOptions {
  std::string model, run;             // either may be empty
  std::vector<std::string> sources;   // what is traced at the start
  std::optional<std::string> target;  // the model's own translations without
  std::string host = "127.0.0.1";
  int port = 8642;  // 0 for any that is free
};

// Answers until SIGINT or SIGTERM; the exit status.
int serve_page(const PageOptions& options);

// Writes one HTML file; the exit status.
int write_report(const PageOptions& options, const std::string& file);

}  // namespace glass::program
