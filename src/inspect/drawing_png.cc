#include <algorithm>
#include <cmath>

#include "glassformer/base/error.h"
#include "glassformer/inspect/drawing.h"
#include "inspect/png.h"

namespace glass {

namespace {

class Dots {
 public:
  Dots(int width, int height)
      : width_(width), height_(height), rgb_(3 * static_cast<size_t>(width) * static_cast<size_t>(height), 255) {}

  void set(int x, int y, Color c) {
    if (x < 0 || y < 0 || x >= width_ || y >= height_) return;
    uint8_t* dot = rgb_.data() + 3 * (static_cast<size_t>(y) * static_cast<size_t>(width_) + static_cast<size_t>(x));
    dot[0] = c.red;
    dot[1] = c.green;
    dot[2] = c.blue;
  }

  void box(const Drawing::Box& b, int scale) {
    constexpr Color ground{0xee, 0xee, 0xee}, stripe{0xaa, 0xaa, 0xaa};
    constexpr int period = 4;
    for (int y = b.y * scale; y < (b.y + b.height) * scale; ++y) {
      for (int x = b.x * scale; x < (b.x + b.width) * scale; ++x) {
        const bool on_stripe = (x + y) / scale % period == 0;
        set(x, y, !b.hatched ? b.color : on_stripe ? stripe : ground);
      }
    }
  }

  // A square brush moved along in steps of half a dot.
  void line(const Drawing::Line& line, int scale) {
    const int brush = std::max(1, static_cast<int>(std::lround(line.width * scale)));
    for (size_t i = 1; i < line.points.size(); ++i) {
      const auto [x0, y0] = line.points[i - 1];
      const auto [x1, y1] = line.points[i];
      const int steps = 1 + static_cast<int>(2 * scale * std::max(std::abs(x1 - x0), std::abs(y1 - y0)));
      for (int s = 0; s <= steps; ++s) {
        const double share = static_cast<double>(s) / steps;
        stamp(scale * (x0 + share * (x1 - x0)), scale * (y0 + share * (y1 - y0)), brush, line.color);
      }
    }
  }

  std::string png() const { return png_bytes(width_, height_, rgb_); }

 private:
  void stamp(double x, double y, int brush, Color color) {
    const int left = static_cast<int>(std::floor(x - brush / 2.0 + 0.5));
    const int top = static_cast<int>(std::floor(y - brush / 2.0 + 0.5));
    for (int i = 0; i < brush; ++i) {
      for (int j = 0; j < brush; ++j) set(left + j, top + i, color);
    }
  }

  int width_, height_;
  std::vector<uint8_t> rgb_;
};

}  // namespace

std::string png_of(const Drawing& d, int scale) {
  constexpr double most_dots = 1 << 28;
  const double dots = static_cast<double>(d.width) * d.height * scale * scale;
  if (d.width < 1 || d.height < 1 || scale < 1 || dots > most_dots) {
    throw ValueError("png: a picture of " + std::to_string(d.width) + " x " + std::to_string(d.height) +
                     " pixels at scale " + std::to_string(scale) + "; write SVG, or draw less");
  }
  Dots canvas(d.width * scale, d.height * scale);
  for (const Drawing::Box& box : d.boxes) canvas.box(box, scale);
  for (const Drawing::Line& line : d.lines) canvas.line(line, scale);
  return canvas.png();
}

}  // namespace glass
