// One pair of sentences seen through a model: all that the inspector keeps of it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "glassformer/inspect/trace_pair.h"
#include "inspect/attention_survey.h"
#include "inspect/beam_record.h"
#include "inspect/token_spans.h"

namespace glass {

// What is to be looked at. Without a target it is the best of a beam search whose hypotheses begin with `prefix`.
struct PairQuestion {
  std::string source;
  std::optional<std::string> target;
  int beam = 4;
  std::vector<int32_t> prefix;
};

struct BeamResult {
  SearchOptions options;
  BeamRecord record;
  std::vector<Hypothesis> best;
};

struct PairRecord {
  std::string source, target;
  PairTokens pair;
  std::vector<ByteSpan> source_bytes, target_bytes;  // of each token, EOS and BOS too
  double loss = 0;
  // Scores and weights, which grow with T·S, are there as statistics; not at all if they are too large for that.
  Trace trace;
  std::map<AttentionKind, std::vector<CapturedAttention>> attentions;  // by layer
  std::optional<BeamResult> beam;                                      // only if the target was searched
  std::string description;                                             // the answer to traces/{id}
  std::map<AttentionKind, AttentionSurvey> surveys;                    // the latest of each kind, when asked for
  std::map<AttentionKind, Dim> survey_sizes;

  int64_t bytes() const;  // of its tensors
};

// The most tokens of a side: what is kept and computed grows with them, and with their square.
inline constexpr size_t most_pair_tokens = 4400;

// The most tokens of a hypothesis: as many as a search allows by itself, behind a prefix of so many, as long as the model
// can then read them and EOS.
int64_t search_limit(const TransformerConfig& config, const PairTokens& pair, size_t prefix);

// Refuses a pair that is too long, or that the model cannot read.
PairRecord record_pair(const SavedTranslation& saved, const PairQuestion& question);

// A map of {kind} attention with at most `size` rows and columns, kept from one question to the next.
const AttentionSurvey& survey_of(PairRecord& record, AttentionKind kind, Dim size);

}  // namespace glass
