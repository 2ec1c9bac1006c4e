// Greedy and beam search over a translation model.
#pragma once

#include <string>
#include <vector>

#include "glassformer/models/translation_model.h"

namespace glass {

// How scores of hypotheses of different lengths are made comparable; the length |Y| counts EOS.
enum class LengthNorm {
  none,     // Σ log p
  average,  // Σ log p / |Y|^alpha; alpha 1 is the mean
  gnmt,     // Σ log p / ((5 + |Y|)/6)^alpha (Wu et al., 2016, equation 14)
};
LengthNorm length_norm_from_name(const std::string& name);  // throws InputError

struct SearchOptions {
  int beam = 1;   // 1 is greedy search: the likeliest token each time, until EOS
  int nbest = 1;  // at most beam
  LengthNorm length_norm = LengthNorm::average;
  double alpha = 1;
  int64_t max_length =
      0;  // of a hypothesis, in tokens with EOS; 0: 2 × source + 10. Learned positions limit it further
  bool use_cache = true;      // false recomputes everything at each step: slow, for checking
  int64_t min_length = 0;     // EOS is not taken before a hypothesis has so many tokens, with EOS
  bool allow_unknown = true;  // whether the unknown token may be produced
};

struct Hypothesis {
  std::vector<int32_t> tokens;                 // without BOS and EOS
  std::vector<float> token_log_probabilities;  // natural logarithms; EOS last, if complete
  double log_probability = 0;                  // their sum
  double length_divisor = 1;                   // score = log_probability / length_divisor
  double score = 0;
  bool complete = false;  // ended by EOS, not by max_length
};

// For each row of source [B,S] (int, padded at the end; lengths int [B]) the nbest hypotheses, best first and distinct;
// ties go to the hypothesis that ranked higher a step before, then to the lower token. PAD and BOS are never produced.
// A hypothesis is given up only when no extension of it can come among the nbest any more. Fewer than nbest come back
// where fewer are possible. A row's result does not depend on the others beyond rounding. Reads the model only, which
// is to be in evaluation mode; builds no graph; safe to call from several threads. Throws ValueError for options
// outside their range, a token outside the vocabulary or a source longer than learned positions, ShapeError if source
// and lengths do not fit, NonFiniteError if the model's scores are NaN.
std::vector<std::vector<Hypothesis>> search(const TranslationModel& model, const Tensor& source,
                                            const Tensor& source_lengths, const SearchOptions& options);

}  // namespace glass
