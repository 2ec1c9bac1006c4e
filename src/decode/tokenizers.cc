#include "glassformer/decode/tokenizers.h"

#include <algorithm>

#include "glassformer/base/error.h"
#include "glassformer/data/unicode.h"

namespace glass {

namespace {

struct Name {
  const char* text;
  BleuTokenizer tokenizer;
};
constexpr Name names[] = {{"13a", BleuTokenizer::v13a},
                          {"zh", BleuTokenizer::zh},
                          {"char", BleuTokenizer::chars},
                          {"intl", BleuTokenizer::intl},
                          {"none", BleuTokenizer::none}};

bool is_digit(char32_t c) { return c >= U'0' && c <= U'9'; }
bool is_stop(char32_t c) { return c == U'.' || c == U','; }

// ASCII punctuation but the apostrophe, the comma, the hyphen and the full stop.
bool is_separate(char32_t c) {
  return (c >= U'{' && c <= U'~') || (c >= U'[' && c <= U'`') || (c >= U' ' && c <= U'&') || (c >= U'(' && c <= U'+') ||
         (c >= U':' && c <= U'@') || c == U'/';
}

// Replaces each pair of neighbours for which matches(first, second) by insert(first, second), from left to right and
// without overlap, as a regular expression's substitution does.
template <class Matches, class Insert>
std::u32string replace_pairs(const std::u32string& text, Matches matches, Insert insert) {
  std::u32string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (i + 1 < text.size() && matches(text[i], text[i + 1])) {
      insert(out, text[i], text[i + 1]);
      ++i;
    } else {
      out += text[i];
    }
  }
  return out;
}

void space_around_second(std::u32string& out, char32_t first, char32_t second) {
  out += first;
  out += U' ';
  out += second;
  out += U' ';
}

void space_around_first(std::u32string& out, char32_t first, char32_t second) {
  out += U' ';
  out += first;
  out += U' ';
  out += second;
}

template <class Matches>
std::u32string space_around(const std::u32string& text, Matches matches) {
  std::u32string out;
  for (const char32_t c : text) {
    const bool apart = matches(c);
    if (apart) out += U' ';
    out += c;
    if (apart) out += U' ';
  }
  return out;
}

// The rules that 13a and zh share.
std::vector<std::u32string> western(std::u32string text) {
  text = space_around(text, is_separate);
  text = replace_pairs(
      text, [](char32_t a, char32_t b) { return !is_digit(a) && is_stop(b); }, space_around_second);
  text = replace_pairs(
      text, [](char32_t a, char32_t b) { return is_stop(a) && !is_digit(b); }, space_around_first);
  text = replace_pairs(
      text, [](char32_t a, char32_t b) { return is_digit(a) && b == U'-'; }, space_around_second);
  return split_at_spaces(text);
}

void replace_all(std::u32string& text, std::u32string_view from, std::u32string_view to) {
  for (size_t at = text.find(from); at != std::u32string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

std::vector<std::u32string> tokenize_13a(std::u32string text) {
  replace_all(text, U"<skipped>", U"");
  replace_all(text, U"-\n", U"");
  replace_all(text, U"\n", U" ");
  replace_all(text, U"&quot;", U"\"");
  replace_all(text, U"&amp;", U"&");
  replace_all(text, U"&lt;", U"<");
  replace_all(text, U"&gt;", U">");
  return western(U" " + text + U" ");
}

// The reference writes two of its ranges with five-digit escapes that its language reads as four digits and a
// character; U+2001…U+2A6D and U+2F81…U+2FA1 are what they then mean, and what its published scores rest on.
bool is_chinese(char32_t c) {
  struct Range {
    char32_t first, last;
  };
  static constexpr Range ranges[] = {
      {0x2001, 0x2A6D}, {0x2E80, 0x2EFF}, {0x2F00, 0x2FDF}, {0x2FF0, 0x2FFF}, {0x3000, 0x303F}, {0x3100, 0x312F},
      {0x31A0, 0x31BF}, {0x31C0, 0x31EF}, {0x3200, 0x32FF}, {0x3300, 0x33FF}, {0x3400, 0x4DB5}, {0x4E00, 0x9FBB},
      {0xF900, 0xFA2D}, {0xFA30, 0xFA6A}, {0xFA70, 0xFAD9}, {0xFE10, 0xFE1F}, {0xFE30, 0xFE4F}, {0xFF00, 0xFFEF}};
  return std::any_of(std::begin(ranges), std::end(ranges), [c](const Range& r) { return c >= r.first && c <= r.last; });
}

std::u32string strip_end(std::u32string text) {
  while (!text.empty() && is_space(text.back())) text.pop_back();
  return text;
}

std::vector<std::u32string> tokenize_zh(std::u32string text) {
  const auto first = std::find_if_not(text.begin(), text.end(), is_space);
  text.erase(text.begin(), first);
  return western(space_around(text, is_chinese));
}

std::vector<std::u32string> tokenize_intl(std::u32string text) {
  text = replace_pairs(
      text, [](char32_t a, char32_t b) { return !is_number(a) && is_punctuation(b); }, space_around_second);
  text = replace_pairs(
      text, [](char32_t a, char32_t b) { return is_punctuation(a) && !is_number(b); }, space_around_first);
  return split_at_spaces(space_around(text, is_symbol));
}

}  // namespace

BleuTokenizer bleu_tokenizer_from_name(const std::string& text) {
  for (const Name& name : names) {
    if (text == name.text) return name.tokenizer;
  }
  throw InputError("tokenizer: unknown \"" + text + "\"; use 13a, zh, char, intl or none");
}

std::string bleu_tokenizer_name(BleuTokenizer tokenizer) {
  for (const Name& name : names) {
    if (tokenizer == name.tokenizer) return name.text;
  }
  return {};
}

std::vector<std::u32string> bleu_tokenize(BleuTokenizer tokenizer, std::string_view line, bool fold_case) {
  std::u32string text = to_code_points(line);
  if (fold_case) text = lowercase(text);
  text = strip_end(std::move(text));
  switch (tokenizer) {
    case BleuTokenizer::v13a:
      return tokenize_13a(text);
    case BleuTokenizer::zh:
      return tokenize_zh(text);
    case BleuTokenizer::chars:
      return split_at_spaces(space_around(text, [](char32_t) { return true; }));
    case BleuTokenizer::intl:
      return tokenize_intl(text);
    case BleuTokenizer::none:
      break;
  }
  return split_at_spaces(text);
}

}  // namespace glass
