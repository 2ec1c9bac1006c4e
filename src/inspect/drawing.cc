#include "glassformer/inspect/drawing.h"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "glassformer/data/unicode.h"

namespace glass {

namespace {

std::string hex(Color c) { return fmt::format("#{:02x}{:02x}{:02x}", c.red, c.green, c.blue); }

// XML has no place for control characters, not even escaped.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    out += c == '<'                              ? "&lt;"
           : c == '>'                            ? "&gt;"
           : c == '&'                            ? "&amp;"
           : static_cast<unsigned char>(c) < ' ' ? std::string(" ")
                                                 : std::string(1, c);
  }
  return out;
}

std::string path_of(const Drawing::Box& box) {
  return fmt::format("M{} {}h{}v{}h-{}z", box.x, box.y, box.width, box.height, box.width);
}

// Those of one colour become one path.
std::string boxes_svg(const std::vector<Drawing::Box>& boxes) {
  std::map<std::string, std::string> path_by_fill;
  for (const Drawing::Box& box : boxes) {
    path_by_fill[box.hatched ? "url(#masked)" : hex(box.color)] += path_of(box);
  }
  std::string svg;
  for (const auto& [fill, path] : path_by_fill) svg += fmt::format("<path fill=\"{}\" d=\"{}\"/>\n", fill, path);
  return svg;
}

std::string line_svg(const Drawing::Line& line) {
  std::string points;
  for (const auto& [x, y] : line.points) points += fmt::format("{}{:.1f},{:.1f}", points.empty() ? "" : " ", x, y);
  return fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"/>\n", points,
                     hex(line.color), line.width);
}

std::string text_svg(const Drawing::Text& t) {
  const std::string place = t.upwards ? fmt::format("transform=\"translate({:.1f},{:.1f}) rotate(-90)\"", t.x, t.y)
                                      : fmt::format("x=\"{:.1f}\" y=\"{:.1f}\"", t.x, t.y);
  const char* anchor = t.anchor == Drawing::Anchor::middle ? " text-anchor=\"middle\""
                       : t.anchor == Drawing::Anchor::end  ? " text-anchor=\"end\""
                                                           : "";
  return fmt::format("<text {} font-size=\"{:g}\"{} fill=\"{}\">{}</text>\n", place, t.size, anchor, hex(t.color),
                     escaped(t.text));
}

}  // namespace

double text_width(const std::string& text, double size) { return 0.6 * size * display_width(text); }

std::string svg_of(const Drawing& d) {
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
      "font-family=\"DejaVu Sans,Noto Sans,Noto Sans CJK SC,sans-serif\">\n"
      "<defs><pattern id=\"masked\" width=\"4\" height=\"4\" patternUnits=\"userSpaceOnUse\">"
      "<rect width=\"4\" height=\"4\" fill=\"#eee\"/><path d=\"M-1 1L1-1M0 4L4 0M3 5L5 3\" stroke=\"#aaa\"/></pattern>"
      "</defs>\n<rect width=\"{0}\" height=\"{1}\" fill=\"#fff\"/>\n<g shape-rendering=\"crispEdges\">\n{2}</g>\n",
      d.width, d.height, boxes_svg(d.boxes));
  for (const Drawing::Line& line : d.lines) svg += line_svg(line);
  for (const Drawing::Text& text : d.texts) svg += text_svg(text);
  return svg + "</svg>\n";
}

}  // namespace glass
