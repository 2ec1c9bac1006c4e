// BLEU (Papineni et al., "BLEU: a method for automatic evaluation of machine translation", 2002), equal to sacreBLEU 2
// (Post, "A call for clarity in reporting BLEU scores", 2018) in every digit it prints.
//
// Texts are UTF-8, one line a sentence; what is invalid counts as U+FFFD. Every function here is pure, so any number of
// threads may call them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "glassformer/decode/tokenizers.h"

namespace glass {

// What an order of n-grams without any match counts (Chen and Cherry, "A systematic comparison of smoothing techniques
// for sentence-level BLEU", 2014).
enum class BleuSmoothing {
  none,   // nothing: the score is then 0
  exp,    // half a match for the first such order, a quarter for the next, … (their method 3, NIST's)
  floor,  // `smoothing_value` of a match (method 1)
  add_k,  // `smoothing_value` is added to matches and n-grams of every order above 1 (method 2)
};

struct BleuOptions {
  BleuTokenizer tokenizer = BleuTokenizer::v13a;
  bool lowercase = false;
  BleuSmoothing smoothing = BleuSmoothing::exp;
  std::optional<double> smoothing_value;  // unset: 0.1 for floor, 1 for add_k; the others have none
  bool effective_order = false;           // leave out the orders that no n-gram of the hypothesis has
};

// Counts that add up over sentences. Entry n-1 is of the n-grams of n tokens.
struct BleuStatistics {
  int64_t hypothesis_length = 0, reference_length = 0;  // tokens; the reference closest in length, of two the shorter
  std::array<int64_t, 4> correct{}, total{};            // n-grams of the hypothesis: found in a reference, and all
  BleuStatistics& operator+=(const BleuStatistics& other);
};

struct BleuScore {
  double score = 0;                                     // 0…100
  std::array<double, 4> precisions{};                   // 0…100, smoothed; all 0 if nothing matches
  double brevity_penalty = 1;                           // 0…1
  int64_t hypothesis_length = 0, reference_length = 0;  // tokens

  double length_ratio() const;  // hypothesis to reference; 0 without a reference token
  // "BLEU = 24.01 55.1/30.2/18.0/11.1 (BP = 0.980 ratio = 0.981 hyp_len = 8123 ref_len = 8280)"
  std::string text() const;
};

// references[r][line] is the r-th reference of a line; each line has all of them.
using References = std::vector<std::vector<std::string>>;

// The score of a whole corpus: of its summed counts, not the mean of its sentences' scores. Without lines it is 0.
// Throws InputError if there is no reference or if one has not as many lines as the hypotheses.
BleuScore bleu(const std::vector<std::string>& hypotheses, const References& references,
               const BleuOptions& options = {});

// The score of one sentence, with the effective order whatever `options` says. Throws InputError without a reference.
BleuScore sentence_bleu(const std::string& hypothesis, const std::vector<std::string>& references,
                        BleuOptions options = {});

// The two halves of bleu(): the counts of each line, with the same errors, and the score of any sum of them.
std::vector<BleuStatistics> bleu_statistics(const std::vector<std::string>& hypotheses, const References& references,
                                            const BleuOptions& options = {});
BleuScore bleu_from_statistics(const BleuStatistics& sum, const BleuOptions& options = {});

// sacreBLEU's form, so that results compare: "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0". The version
// is that of the definition followed, against which the tests compare: it says what the number means, not which program
// computed it.
std::string bleu_signature(const BleuOptions& options, size_t references);

}  // namespace glass
