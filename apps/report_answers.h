// The answers that a report holds, in the order of their worth.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report.h"

namespace glass::program {

// Has `inspector` trace a sentence; the trace's id. Throws InputError if it cannot.
std::string trace_sentence(Inspector& inspector, const std::string& source, const std::optional<std::string>& target);

// In the order of what is left out last. Large overviews, each attention's heads at most 160 by 160, stand for weights.
enum class ReportPart { core, large_overviews, weights, tensors, scores };

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
  const std::vector<std::string>& traces() const { return traces_; }  // their ids
  // Whether something of this part was passed over, since it alone would be far more than a report may hold.
  bool incomplete(ReportPart part) const;

 private:
  bool ask(const std::string& url, ReportPart part);
  void ask_trace(const std::string& id);
  void ask_attention(const std::string& url, size_t layers, size_t heads);

  Inspector& inspector_;
  const ReportOptions& options_;
  std::vector<ReportAnswer> answers_;
  std::vector<std::string> traces_;
  size_t bytes_[5] = {};  // of each part
};

}  // namespace glass::program
