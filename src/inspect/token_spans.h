// Which bytes of a text its tokens stand for.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace glass {

using ByteSpan = std::optional<std::pair<size_t, size_t>>;  // [begin, end); nothing for a token without bytes

// Of a text that was put together from these pieces ("▁" for a blank before a word), without the blanks. A piece that
// is not in the text, as a special token, has none.
std::vector<ByteSpan> spans_of_pieces(const std::string& text, const std::vector<std::string>& pieces);

}  // namespace glass
