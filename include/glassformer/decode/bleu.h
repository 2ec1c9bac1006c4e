// BLEU (Papineni et al., 2002), equal to sacreBLEU 2 in every digit it prints.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "glassformer/decode/tokenizers.h"

namespace glass {

enum class BleuSmoothing { none, exp, floor, add_k };

struct BleuOptions {
  BleuTokenizer tokenizer = BleuTokenizer::v13a;
  bool lowercase = false;
  BleuSmoothing smoothing = BleuSmoothing::exp;
  bool effective_order = false;  // for single sentences
};

// Counts that add up over sentences.
struct BleuStatistics {
  int64_t hypothesis_length = 0, reference_length = 0;
  std::array<int64_t, 4> correct{}, total{};
  BleuStatistics& operator+=(const BleuStatistics& other);
};

struct BleuScore {
  double score = 0;                    // 0…100
  std::array<double, 4> precisions{};  // 0…100
  double brevity_penalty = 1;
  int64_t hypothesis_length = 0, reference_length = 0;
  // "BLEU = 24.01 55.1/30.2/18.0/11.1 (BP = 0.98 ratio = 0.981 hyp_len = 8123 ref_len = 8280)"
  std::string text() const;
};

// references[r] is the r-th reference of every line. Throws InputError if the numbers of lines differ.
using References = std::vector<std::vector<std::string>>;
std::vector<BleuStatistics> bleu_statistics(const std::vector<std::string>& hypotheses, const References& references,
                                            const BleuOptions& options);
BleuScore bleu_from_statistics(const BleuStatistics& sum, const BleuOptions& options);
BleuScore bleu(const std::vector<std::string>& hypotheses, const References& references, const BleuOptions& options);

// sacreBLEU's form, with the version whose definition is followed: "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0"
std::string bleu_signature(const BleuOptions& options, size_t references);

}  // namespace glass
