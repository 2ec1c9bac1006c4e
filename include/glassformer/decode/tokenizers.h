// The tokenizers of BLEU, as sacreBLEU 2 defines them (Post, "A call for clarity in reporting BLEU scores", 2018).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace glass {

enum class BleuTokenizer {
  v13a,   // mteval-v13a's, for languages in Latin script: ASCII punctuation apart, HTML's four entities resolved
  zh,     // each Chinese character a token; the rest as 13a, but entities stay
  chars,  // each character a token
  intl,   // mteval-v14's: by Unicode punctuation and symbols, except punctuation between digits
  none,   // at white space
};
BleuTokenizer bleu_tokenizer_from_name(
    const std::string& name);  // "13a", "zh", "char", "intl", "none"; else InputError
std::string bleu_tokenizer_name(BleuTokenizer tokenizer);

// The tokens of one line of UTF-8, in code points; invalid bytes become U+FFFD. White space is what Python's
// str.split() splits at and lower case what its str.lower() gives. Punctuation and symbols are those of the Unicode
// version of utf8proc, so characters newer than that are neither. Pure; any number of threads may call it.
std::vector<std::u32string> bleu_tokenize(BleuTokenizer tokenizer, std::string_view line, bool lowercase);

}  // namespace glass
