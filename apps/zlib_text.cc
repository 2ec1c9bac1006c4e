#include "zlib_text.h"

#include <zlib.h>

#include <algorithm>
#include <cstdint>

#include "glassformer/base/error.h"

namespace glass::program {

namespace {

constexpr int gzip_window = 15 + 16;  // zlib's way to say: a gzip header is expected

}  // namespace

std::string gunzip(std::string_view bytes) {
  z_stream stream{};
  if (inflateInit2(&stream, gzip_window) != Z_OK) throw SystemError("zlib: out of memory");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));  // zlib reads it only
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string text;
  char block[1 << 14];
  int status = Z_OK;
  while (status == Z_OK) {
    stream.next_out = reinterpret_cast<Bytef*>(block);
    stream.avail_out = sizeof block;
    status = inflate(&stream, Z_NO_FLUSH);
    text.append(block, sizeof block - stream.avail_out);
  }
  inflateEnd(&stream);
  if (status != Z_STREAM_END) throw SystemError("zlib: a compressed file is damaged");
  return text;
}

std::string zlib_compressed(std::string_view bytes) {
  uLongf size = compressBound(bytes.size());
  std::string out(size, '\0');
  if (compress2(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(),
                Z_BEST_COMPRESSION) != Z_OK)
    throw SystemError("zlib: out of memory");
  out.resize(size);
  return out;
}

std::string base64(std::string_view bytes) {
  constexpr const char* digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t count = std::min<size_t>(3, bytes.size() - i);
    uint32_t group = 0;
    for (size_t j = 0; j < 3; ++j) group = group << 8 | (j < count ? static_cast<unsigned char>(bytes[i + j]) : 0U);
    for (size_t j = 0; j < 4; ++j) out += j <= count ? digits[group >> (18 - 6 * j) & 63] : '=';
  }
  return out;
}

}  // namespace glass::program
