// A translation model at work on one pair of sentences, as a trace.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "glassformer/decode/saved_model.h"
#include "glassformer/inspect/trace.h"

namespace glass {

// A pair as the model gets it, a batch of one.
struct PairTokens {
  Tensor source, source_lengths;                          // [1,S], [1] int32; EOS last
  Tensor target_input, target_output;                     // [1,T] int32: BOS + y, y + EOS
  std::vector<std::string> source_pieces, target_pieces;  // of source [S] and target_input [T]: rows and columns
};

// Without a target it is what greedy search gives. Throws InputError if the source has no token, or a side is longer
// than the model's learned positions.
PairTokens tokens_of_pair(const SavedTranslation& saved, const std::string& source,
                          const std::optional<std::string>& target);

// The same of tokens without BOS and EOS.
PairTokens pair_of_tokens(const SavedTranslation& saved, std::vector<int32_t> source, std::vector<int32_t> target);

// trace_loss() (inspect/trace_loss.h) of the model over the pair, teacher-forced, in evaluation mode. The loss is the
// mean −log p of a target token, EOS included, without label smoothing.
double trace_pair(const TranslationModel& model, const PairTokens& pair, Trace& trace);

}  // namespace glass
