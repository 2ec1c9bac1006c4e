#include "glassformer/inspect/drawing.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <array>

#include "glassformer/base/error.h"

namespace glass {
namespace {

constexpr Color red{200, 10, 10}, blue{10, 10, 200};

Drawing small_drawing() {
  Drawing d;
  d.width = 8;
  d.height = 6;
  d.boxes = {{0, 0, 4, 2, red}, {4, 0, 4, 2, blue}, {0, 2, 4, 4, {}, true}};
  d.lines = {{{{5, 4.5}, {8, 4.5}}, blue, 1}};
  d.texts = {{1, 1, "<a> & \x01 b", 12, Drawing::Anchor::end, true, red}};
  return d;
}

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(Drawing, SvgStandsAlone) {
  Drawing d = small_drawing();
  d.boxes.push_back({4, 2, 4, 1, red});
  const std::string svg = svg_of(d);
  EXPECT_TRUE(svg.starts_with("<svg xmlns="));
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  EXPECT_EQ(count(svg, "M0 0h4v2h-4zM4 2h4v1h-4z"), 1u);  // both red ones in one path
  EXPECT_EQ(count(svg, "url(#masked)"), 1u);
  EXPECT_NE(svg.find(">&lt;a&gt; &amp;   b</text>"), std::string::npos) << svg;
  EXPECT_NE(svg.find("rotate(-90)"), std::string::npos);
  EXPECT_EQ(svg.find('\x01'), std::string::npos);
}

uint32_t number_at(const std::string& bytes, size_t at) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

// A reader of just what is written: the dots of an 8-bit RGB picture whose rows are not filtered.
struct Png {
  uint32_t width = 0, height = 0;
  std::string rows;

  explicit Png(const std::string& bytes) {
    EXPECT_EQ(bytes.substr(0, 8), "\x89PNG\r\n\x1a\n");
    std::string packed;
    size_t at = 8;
    while (at < bytes.size()) {
      const uint32_t length = number_at(bytes, at);
      const std::string name = bytes.substr(at + 4, 4), data = bytes.substr(at + 8, length);
      const std::string checked = name + data;
      EXPECT_EQ(number_at(bytes, at + 8 + length),
                crc32(0, reinterpret_cast<const Bytef*>(checked.data()), static_cast<uInt>(checked.size())));
      if (name == "IHDR") {
        width = number_at(data, 0);
        height = number_at(data, 4);
        EXPECT_EQ(data.substr(8), std::string("\x08\x02\0\0\0", 5));
      }
      if (name == "IDAT") packed += data;
      at += 12 + length;
    }
    uLongf size = (3 * width + 1) * height;
    rows.resize(size);
    EXPECT_EQ(uncompress(reinterpret_cast<Bytef*>(rows.data()), &size, reinterpret_cast<const Bytef*>(packed.data()),
                         static_cast<uLong>(packed.size())),
              Z_OK);
    EXPECT_EQ(size, rows.size());
  }

  std::array<int, 3> dot(size_t x, size_t y) const {
    const size_t at = y * (3 * width + 1) + 1 + 3 * x;
    const auto byte = [&](size_t i) { return static_cast<int>(static_cast<unsigned char>(rows[at + i])); };
    return {byte(0), byte(1), byte(2)};
  }
};

TEST(Drawing, PngHasEachDot) {
  using Rgb = std::array<int, 3>;
  const Png png(png_of(small_drawing(), 3));
  EXPECT_EQ(png.width, 24u);
  EXPECT_EQ(png.height, 18u);
  EXPECT_EQ(png.dot(0, 0), (Rgb{200, 10, 10}));
  EXPECT_EQ(png.dot(11, 5), (Rgb{200, 10, 10}));
  EXPECT_EQ(png.dot(12, 5), (Rgb{10, 10, 200}));
  EXPECT_EQ(png.dot(0, 6 + 6), (Rgb{0xaa, 0xaa, 0xaa}));  // a stripe of the hatching
  EXPECT_EQ(png.dot(3, 6 + 6), (Rgb{0xee, 0xee, 0xee}));
  EXPECT_EQ(png.dot(20, 13), (Rgb{10, 10, 200}));  // the line
  EXPECT_EQ(png.dot(20, 17), (Rgb{255, 255, 255}));
}

TEST(Drawing, PngOfAnAbsurdSizeIsRefused) {
  Drawing d;
  EXPECT_THROW(png_of(d), ValueError);
  d.width = d.height = 1 << 20;
  EXPECT_THROW(png_of(d), ValueError);
}

}  // namespace
}  // namespace glass
