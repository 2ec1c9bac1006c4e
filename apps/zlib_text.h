// Compression of what is in memory, and bytes as text.
#pragma once

#include <string>
#include <string_view>

namespace glass::program {

// A gzip file's contents. Throws SystemError if it is none.
std::string gunzip(std::string_view bytes);

// One zlib stream (RFC 1950), as small as zlib makes it.
std::string zlib_compressed(std::string_view bytes);

std::string base64(std::string_view bytes);

}  // namespace glass::program
