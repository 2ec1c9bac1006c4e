// Text as code points, and what Unicode says of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace glass {

// Invalid UTF-8 becomes U+FFFD, as replace_invalid_utf8() (data/text.h) does it.
std::u32string to_code_points(std::string_view text);
std::string to_utf8(std::u32string_view text);

// White space by Unicode, and the separators U+001C to U+001F: what Python's str.split() splits at.
bool is_space(char32_t c);
std::vector<std::u32string> split_at_spaces(std::u32string_view text);

bool is_letter_or_mark(char32_t c);  // L, M
bool is_punctuation(char32_t c);     // general category P
bool is_number(char32_t c);          // N
bool is_symbol(char32_t c);          // S

// Columns of a terminal that the text takes: two for an ideograph, none for a combining mark.
int display_width(std::string_view text);

// Lower case, with the two rules that one code point cannot tell: a final Greek sigma, and the dotted I.
std::u32string lowercase(std::u32string_view text);
std::string lowercase(std::string_view text);

}  // namespace glass
