// The answers that a report holds, in the order of their worth.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report.h"

namespace glass::program {

// Has `inspector` trace a sentence; the trace's id. Throws InputError if it cannot.
std::string trace_sentence(Inspector& inspector, const std::string& source, const std::optional<std::string>& target);

// In the order of what is left out last.
enum class ReportPart { core, weights, tensors, scores };

struct ReportAnswer {
  std::string url;  // what follows "/api/v1/"
  ReportPart part = ReportPart::core;
  std::string type, body;
};

// The answers themselves and what was found too large to be even asked for.
class ReportAnswers {
 public:
  ReportAnswers(Inspector& inspector, const ReportOptions& options);

  const std::vector<ReportAnswer>& all() const { return answers_; }
  // Whether something of this part was passed over, since it alone would be far more than a report may hold.
  bool incomplete(ReportPart part) const;
  // Each attention's map of all heads, at most 160 rows and columns.
  std::vector<ReportAnswer> large_overviews();

 private:
  bool ask(const std::string& url, ReportPart part);
  void ask_trace(const std::string& id);
  void ask_attention(const std::string& url, size_t layers, size_t heads);

  Inspector& inspector_;
  const ReportOptions& options_;
  std::vector<ReportAnswer> answers_;
  std::vector<std::string> attentions_;  // "traces/1/attention/cross"
  size_t bytes_[4] = {};                 // of each part
};

}  // namespace glass::program
