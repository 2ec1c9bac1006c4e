#include "glassformer/data/unicode.h"

#include <utf8proc.h>

#include "glassformer/data/text.h"

namespace glass {

namespace {

char32_t decode(std::string_view character) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(character[i]); };
  switch (character.size()) {
    case 1:
      return byte(0);
    case 2:
      return (byte(0) & 0x1Fu) << 6 | (byte(1) & 0x3Fu);
    case 3:
      return (byte(0) & 0x0Fu) << 12 | (byte(1) & 0x3Fu) << 6 | (byte(2) & 0x3Fu);
    default:
      return (byte(0) & 0x07u) << 18 | (byte(1) & 0x3Fu) << 12 | (byte(2) & 0x3Fu) << 6 | (byte(3) & 0x3Fu);
  }
}

bool in_category(char32_t c, utf8proc_category_t first, utf8proc_category_t last) {
  const utf8proc_category_t category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return category >= first && category <= last;
}

// Unicode's Cased: letters of a case, and what only looks like one (Other_Lowercase, Other_Uppercase): ordinals, Roman
// numerals, enclosed letters. Modifier letters, cased too, are case-ignorable and so never asked about.
bool is_cased(char32_t c) {
  return in_category(c, UTF8PROC_CATEGORY_LU, UTF8PROC_CATEGORY_LT) || c == 0xAA || c == 0xBA ||
         (c >= 0x2160 && c <= 0x217F) || (c >= 0x24B6 && c <= 0x24E9) || (c >= 0x1F130 && c <= 0x1F149) ||
         (c >= 0x1F150 && c <= 0x1F169) || (c >= 0x1F170 && c <= 0x1F189);
}

// Unicode's Case_Ignorable, which the rule for the final sigma looks through: marks, modifiers, formats, and what may
// be inside a word (Word_Break MidLetter, MidNumLet and Single_Quote).
bool is_case_ignorable(char32_t c) {
  const utf8proc_category_t category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  if (category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_ME || category == UTF8PROC_CATEGORY_CF ||
      category == UTF8PROC_CATEGORY_LM || category == UTF8PROC_CATEGORY_SK) {
    return true;
  }
  static constexpr std::u32string_view inside_words =
      U"'.:\u00B7\u0387\u055F\u05F4\u2018\u2019\u2024\u2027\uFE13\uFE52\uFE55\uFF07\uFF0E\uFF1A";
  return inside_words.find(c) != std::u32string_view::npos;
}

// Whether the sigma at `place` ends a word: a cased letter before it, none after.
bool is_final_sigma(std::u32string_view text, size_t place) {
  size_t before = place, after = place + 1;
  while (before > 0 && is_case_ignorable(text[before - 1])) --before;
  while (after < text.size() && is_case_ignorable(text[after])) ++after;
  return before > 0 && is_cased(text[before - 1]) && (after == text.size() || !is_cased(text[after]));
}

}  // namespace

std::u32string to_code_points(std::string_view text) {
  std::string repaired;
  if (valid_utf8_prefix(text) != text.size()) text = repaired = replace_invalid_utf8(text);
  std::u32string out;
  for (const std::string_view character : utf8_characters(text)) out += decode(character);
  return out;
}

std::string to_utf8(std::u32string_view text) {
  std::string out;
  for (const char32_t c : text) {
    utf8proc_uint8_t bytes[4];
    const auto length = utf8proc_encode_char(static_cast<utf8proc_int32_t>(c), bytes);
    out.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(length));
  }
  return out;
}

bool is_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

std::vector<std::u32string> split_at_spaces(std::u32string_view text) {
  std::vector<std::u32string> words;
  bool inside = false;
  for (const char32_t c : text) {
    const bool space = is_space(c);
    if (!space && !inside) words.emplace_back();
    if (!space) words.back() += c;
    inside = !space;
  }
  return words;
}

int display_width(std::string_view text) {
  int width = 0;
  for (const char32_t c : to_code_points(text)) width += utf8proc_charwidth(static_cast<utf8proc_int32_t>(c));
  return width;
}

bool is_letter_or_mark(char32_t c) { return in_category(c, UTF8PROC_CATEGORY_LU, UTF8PROC_CATEGORY_ME); }
bool is_punctuation(char32_t c) { return in_category(c, UTF8PROC_CATEGORY_PC, UTF8PROC_CATEGORY_PO); }
bool is_number(char32_t c) { return in_category(c, UTF8PROC_CATEGORY_ND, UTF8PROC_CATEGORY_NO); }
bool is_symbol(char32_t c) { return in_category(c, UTF8PROC_CATEGORY_SM, UTF8PROC_CATEGORY_SO); }

std::u32string lowercase(std::u32string_view text) {
  std::u32string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == U'\u0130') {
      out += U"i\u0307";
    } else if (text[i] == U'\u03A3') {
      out += is_final_sigma(text, i) ? U'\u03C2' : U'\u03C3';
    } else {
      out += static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(text[i])));
    }
  }
  return out;
}

std::string lowercase(std::string_view text) { return to_utf8(lowercase(to_code_points(text))); }

}  // namespace glass
