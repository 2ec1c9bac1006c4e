// The tokenizers of BLEU, as sacreBLEU 2 defines them (Post, 2018).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace glass {

enum class BleuTokenizer {
  v13a,  // mteval-v13a's, for languages in Latin script
  zh,    // each Chinese character a token; the rest as 13a
  chars,
  intl,  // mteval-v14's: by Unicode punctuation and symbols
  none,  // at white space
};
BleuTokenizer bleu_tokenizer_from_name(const std::string& name);  // "13a", "zh", "char", "intl", "none"
std::string bleu_tokenizer_name(BleuTokenizer tokenizer);

std::vector<std::u32string> bleu_tokenize(BleuTokenizer tokenizer, std::string_view line, bool lowercase);

}  // namespace glass
