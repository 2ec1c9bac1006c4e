// Parallel text before it is trained on. Places are lines, the first hundred.
#pragma once

#include "glassformer/data/text.h"
#include "glassformer/data/vocabulary.h"
#include "glassformer/inspect/finding.h"

namespace glass {

// Both files read to the end and counted, without a demand that they agree. "unequal lines"
Findings check_line_counts(const std::string& source_path, const std::string& target_path);

// "duplicates" (over 5 % of the pairs), "empty lines", "untranslated lines" (over 5 % are copies), "length outliers"
// (PairStatistics; over 0.5 %).
Findings check_pairs(const ParallelText& training);

// Validation pairs whose source and target both stand in training, or whose source does. "split leak"
Findings check_split(const ParallelText& training, const ParallelText& validation);

// Share of tokens that the vocabulary does not know; over 1 % is a note, over 10 % a fault. `what` names the text.
// "unknown characters"
Findings check_unknown(const std::vector<std::string>& lines, const Vocabulary& vocabulary, const std::string& what);

}  // namespace glass
