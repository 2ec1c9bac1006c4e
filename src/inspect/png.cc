#include "inspect/png.h"

#include <zlib.h>

#include "glassformer/base/error.h"

namespace glass {

namespace {

std::string big_endian(uint32_t value) {
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift);
  return out;
}

// Length, name, data, and a checksum of name and data.
std::string chunk(const std::string& name, const std::string& data) {
  const std::string body = name + data;
  const uLong sum = crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
  return big_endian(static_cast<uint32_t>(data.size())) + body + big_endian(static_cast<uint32_t>(sum));
}

std::string deflated(const std::string& data) {
  uLongf size = compressBound(static_cast<uLong>(data.size()));
  std::string out(size, '\0');
  const int status = compress2(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(data.data()),
                               static_cast<uLong>(data.size()), 9);
  if (status != Z_OK) throw Error("png: zlib cannot compress the picture, status " + std::to_string(status));
  out.resize(size);
  return out;
}

}  // namespace

std::string png_bytes(int width, int height, const std::vector<uint8_t>& rgb) {
  const size_t row = 3 * static_cast<size_t>(width > 0 ? width : 0);
  if (width < 1 || height < 1 || rgb.size() != row * static_cast<size_t>(height)) {
    throw ValueError("png: " + std::to_string(rgb.size()) + " bytes for " + std::to_string(width) + " x " +
                     std::to_string(height) + " dots of 3");
  }
  std::string rows;
  for (size_t at = 0; at < rgb.size(); at += row) {
    rows += '\0';  // the row as it is, not as a difference from its neighbours
    rows.append(reinterpret_cast<const char*>(rgb.data()) + at, row);
  }
  const std::string eight_bit_rgb("\x08\x02\0\0\0", 5);  // depth, colour type, then the only methods there are
  return "\x89PNG\r\n\x1a\n" +
         chunk("IHDR",
               big_endian(static_cast<uint32_t>(width)) + big_endian(static_cast<uint32_t>(height)) + eight_bit_rgb) +
         chunk("IDAT", deflated(rows)) + chunk("IEND", "");
}

}  // namespace glass
