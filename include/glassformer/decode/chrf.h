// chrF and chrF++ (Popović, "chrF: character n-gram F-score for automatic MT evaluation", 2015; "chrF++: words helping
// character n-grams", 2017), equal to sacreBLEU 2 in every digit it prints.
//
// Texts are UTF-8, one line a sentence; what is invalid counts as U+FFFD. Every function here is pure, so any number of
// threads may call them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "glassformer/decode/bleu.h"

namespace glass {

struct ChrfOptions {
  int char_order = 6;  // character n-grams of 1…char_order; at least 1
  int word_order = 0;  // word n-grams of 1…word_order; 2 for chrF++
  int beta = 2;        // how much more recall counts than precision; at least 1
  bool lowercase = false;
  bool whitespace = false;     // count white space as characters
  bool eps_smoothing = false;  // the mean of the orders' F-scores, as the first implementation has it, instead of the
                               // F-score of the mean precision and recall over the orders that both sides have
};

// For each order (characters first, then words) the n-grams of the hypothesis, of the reference, and common to both.
// They add up over sentences scored with the same options; a default-constructed one is the zero.
struct ChrfStatistics {
  std::vector<int64_t> hypothesis, reference, common;  // [char_order + word_order]
  ChrfStatistics& operator+=(const ChrfStatistics& other);
};

// 0…100: the score of a corpus's summed counts; of several references each line counts the one that fits it best, of
// two as good the first. Without lines it is 0. Throws InputError if there is no reference or if one has not as many
// lines as the hypotheses, ValueError if an option is out of its range.
double chrf(const std::vector<std::string>& hypotheses, const References& references, const ChrfOptions& options = {});

// The two halves of chrf(): the counts of each line, with the same errors, and the score of any sum of them.
std::vector<ChrfStatistics> chrf_statistics(const std::vector<std::string>& hypotheses, const References& references,
                                            const ChrfOptions& options = {});
double chrf_from_statistics(const ChrfStatistics& sum, const ChrfOptions& options = {});

std::string chrf_name(const ChrfOptions& options);  // "chrF2", "chrF2++"

// As bleu_signature(): "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:2.6.0".
std::string chrf_signature(const ChrfOptions& options, size_t references);

}  // namespace glass
