// Greedy and beam search over a translation model.
#pragma once

#include <functional>
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

// One extension of a hypothesis, and what became of it.
struct SearchCandidate {
  enum class State { live, finished, pruned };
  size_t parent = 0;  // place among the live ones of the step before; 0 at the first
  int32_t token = 0;
  float log_probability = 0;  // of the token
  double total = 0;           // Σ log p with it
  State state = State::pruned;
};

// A step of the search over one sentence: the best candidates, twice as many as the beam if there are, best first. The
// live ones are the next step's hypotheses, in this order.
struct SearchStep {
  size_t row = 0;             // of the source
  int64_t length = 0;         // of its hypotheses, this step's token included
  double length_divisor = 1;  // score = total / length_divisor
  std::vector<SearchCandidate> candidates;
};
using SearchObserver = std::function<void(const SearchStep& step)>;

struct SearchOptions {
  int beam = 1;   // 1 is greedy search: the likeliest token each time, until EOS
  int nbest = 1;  // at most beam
  LengthNorm length_norm = LengthNorm::average;
  double alpha = 1;
  int64_t max_length =
      0;  // of a hypothesis, in tokens with EOS; 0: 2 × source + 10. Learned positions limit it further
  bool use_cache = true;             // false recomputes everything at each step: slow, for checking
  int64_t min_length = 0;            // EOS is not taken before a hypothesis has so many tokens, with EOS
  bool allow_unknown = true;         // whether the unknown token may be produced
  std::vector<int32_t> prefix = {};  // what every hypothesis begins with; their probabilities count as any token's
  SearchObserver observer = {};      // told of each step, if there is one; changes no result
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
// outside their range, a token (of the prefix also PAD, BOS or EOS) outside the vocabulary or a source longer than
// learned positions, ShapeError if source and lengths do not fit, NonFiniteError if the model's scores are NaN.
std::vector<std::vector<Hypothesis>> search(const TranslationModel& model, const Tensor& source,
                                            const Tensor& source_lengths, const SearchOptions& options);

}  // namespace glass
