// chrF and chrF++ (Popović, 2015, 2017), equal to sacreBLEU 2 in every digit it prints.
#pragma once

#include <string>
#include <vector>

#include "glassformer/decode/bleu.h"

namespace glass {

struct ChrfOptions {
  int char_order = 6;
  int word_order = 0;  // 2 for chrF++
  int beta = 2;        // how much more recall counts than precision
  bool lowercase = false;
};

// For each order the n-grams of the hypothesis, of the reference, and common to both; they add up over sentences.
struct ChrfStatistics {
  std::vector<int64_t> hypothesis, reference, common;
  ChrfStatistics& operator+=(const ChrfStatistics& other);
};

std::vector<ChrfStatistics> chrf_statistics(const std::vector<std::string>& hypotheses, const References& references,
                                            const ChrfOptions& options);
double chrf_from_statistics(const ChrfStatistics& sum, const ChrfOptions& options);  // 0…100
double chrf(const std::vector<std::string>& hypotheses, const References& references, const ChrfOptions& options = {});

std::string chrf_name(const ChrfOptions& options);  // "chrF2", "chrF2++"
std::string chrf_signature(const ChrfOptions& options, size_t references);

}  // namespace glass
