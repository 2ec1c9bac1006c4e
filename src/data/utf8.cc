#include <algorithm>

#include "glassformer/data/text.h"

namespace glass {

namespace {

// The bytes of the valid sequence at the start of `text`, or 0; `invalid` is then how many bytes to replace by one
// U+FFFD (the maximal subpart: what could still have become a valid sequence).
size_t sequence_length(std::string_view text, size_t& invalid) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  invalid = 1;
  if (lead < 0x80) return 1;
  size_t length = 0;
  unsigned char low = 0x80, high = 0xBF;  // what the second byte may be
  if (lead >= 0xC2 && lead <= 0xDF) {
    length = 2;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    length = 3;
    if (lead == 0xE0) low = 0xA0;   // shorter forms exist below
    if (lead == 0xED) high = 0x9F;  // surrogates above
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    length = 4;
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;  // the last code point is U+10FFFF
  } else {
    return 0;
  }
  for (size_t i = 1; i < length; ++i) {
    if (i >= text.size() || byte(i) < low || byte(i) > high) {
      invalid = i;
      return 0;
    }
    low = 0x80;
    high = 0xBF;
  }
  return length;
}

}  // namespace

size_t valid_utf8_prefix(std::string_view text) {
  size_t place = 0, invalid = 0;
  while (place < text.size()) {
    const size_t length = sequence_length(text.substr(place), invalid);
    if (length == 0) break;
    place += length;
  }
  return place;
}

std::string replace_invalid_utf8(std::string_view text) {
  std::string out;
  size_t invalid = 0;
  while (!text.empty()) {
    const size_t length = sequence_length(text, invalid);
    if (length == 0) {
      out += "\xEF\xBF\xBD";
      text.remove_prefix(invalid);
    } else {
      out += text.substr(0, length);
      text.remove_prefix(length);
    }
  }
  return out;
}

std::vector<std::string_view> utf8_characters(std::string_view text) {
  std::vector<std::string_view> out;
  size_t invalid = 0;
  while (!text.empty()) {
    const size_t length = std::max<size_t>(1, sequence_length(text, invalid));
    out.push_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return out;
}

}  // namespace glass
