// Counting n-grams, for BLEU and chrF.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace glass {

using NgramCounts = std::unordered_map<std::u32string, int64_t>;

// The n-grams of a text's characters.
inline NgramCounts character_ngrams(const std::u32string& text, size_t n) {
  NgramCounts counts;
  for (size_t i = 0; i + n <= text.size(); ++i) ++counts[text.substr(i, n)];
  return counts;
}

// The n-grams of words.
inline NgramCounts word_ngrams(const std::vector<std::u32string>& words, size_t n) {
  NgramCounts counts;
  for (size_t i = 0; i + n <= words.size(); ++i) {
    std::u32string key;
    for (size_t j = i; j < i + n; ++j) {
      key += static_cast<char32_t>(words[j].size());  // the length first: no two lists of words give one key
      key += words[j];
    }
    ++counts[key];
  }
  return counts;
}

}  // namespace glass
