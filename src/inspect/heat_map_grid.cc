#include "glassformer/inspect/heat_map_grid.h"

#include <fmt/format.h>

#include <algorithm>

#include "glassformer/base/error.h"
#include "inspect/drawing_colors.h"
#include "inspect/heat_map_panel.h"

namespace glass {

namespace {

constexpr int margin = 16, gap = 14, largest_cell = 24;
constexpr double title_size = 15, caption_size = 11;

double largest_in(const HeatMapGrid& grid) {
  double largest = 0;
  for (const auto& row : grid.maps) {
    for (const HeatMap& map : row) largest = std::max(largest, largest_absolute(map.values));
  }
  return largest;
}

// Where the scale of shares ends: 1, or where all are smaller the next of 0.5, 0.2, 0.1, 0.05, …, so that what attends
// to many keys is no plain dark.
double end_of_shares(double largest) {
  constexpr double least = 1e-6, rounding = 1 + 1e-6;
  double end = 1;
  for (double unit = 1; unit > least; unit /= 10) {
    for (const double step : {1.0, 0.5, 0.2}) {
      if (largest > step * unit * rounding) return end;
      end = step * unit;
    }
  }
  return end;
}

CellSize cell_size(const HeatMapGrid& grid, int side, bool square) {
  Dim rows = 1, columns = 1;
  for (const auto& row : grid.maps) {
    for (const HeatMap& map : row) {
      rows = std::max(rows, map.values.size(0));
      columns = std::max(columns, map.values.size(1));
    }
  }
  if (square) rows = columns = std::max(rows, columns);
  const auto size = [&](Dim count) { return static_cast<int>(std::clamp<Dim>(side / count, 1, largest_cell)); };
  const auto block = [&](Dim count) { return std::max<Dim>(1, (count + side - 1) / side); };
  return {size(columns), size(rows), block(rows), block(columns)};
}

// A bar of the scale's colours with its numbers, and what hatching means.
class Legend {
 public:
  Legend(ColorScale scale, double largest, bool has_masked)
      : scale_(scale), largest_(largest), has_masked_(has_masked) {}

  static constexpr int height = 26;

  int draw(int x, int y, Drawing& to) const {
    x = scale_ == ColorScale::mask ? draw_swatch(x, y, {0, 0, box, box, may_attend_color}, "may attend", to)
                                   : draw_bar(x, y, to);
    return has_masked_ ? draw_swatch(x, y, {0, 0, box, box, {}, true}, "masked", to) : x;
  }

 private:
  static constexpr int steps = 32, step = 4, box = 12;
  static constexpr double size = 10;

  int draw_bar(int x, int y, Drawing& to) const {
    const bool share = scale_ == ColorScale::share;
    for (int i = 0; i < steps; ++i) {
      const double place = static_cast<double>(i) / (steps - 1);
      to.boxes.push_back({x + i * step, y, step, box, share ? share_color(place) : signed_color(2 * place - 1, 1)});
    }
    const double low = share ? 0 : -largest_, high = largest_;
    for (const double place : {0.0, 0.5, 1.0}) {
      const Drawing::Anchor anchor = place == 0  ? Drawing::Anchor::start
                                     : place < 1 ? Drawing::Anchor::middle
                                                 : Drawing::Anchor::end;
      to.texts.push_back({x + place * steps * step, double(y + box + 11),
                          fmt::format("{:.3g}", low + place * (high - low)), size, anchor, false, grey});
    }
    return x + steps * step + 20;
  }

  static int draw_swatch(int x, int y, Drawing::Box swatch, const std::string& words, Drawing& to) {
    swatch.x = x;
    swatch.y = y;
    to.boxes.push_back(swatch);
    to.texts.push_back({double(x + box + 5), double(y + box - 2), words, size, Drawing::Anchor::start, false, grey});
    return x + box + 5 + static_cast<int>(text_width(words, size)) + 20;
  }

  ColorScale scale_;
  double largest_;
  bool has_masked_;
};

// Columns and rows of panels, each as wide and as high as its largest.
class Layout {
 public:
  Layout(const HeatMapGrid& grid, const CellSize& cell) {
    for (const auto& row : grid.maps) {
      std::vector<Panel>& panels = rows_.emplace_back();
      int above = 0, height = 0;
      for (const HeatMap& map : row) {
        const Panel& panel = panels.emplace_back(map, cell);
        const size_t column = panels.size() - 1;
        if (columns_.size() == column) columns_.push_back({});
        columns_[column].before = std::max(columns_[column].before, panel.left());
        columns_[column].size = std::max(columns_[column].size, panel.width());
        above = std::max(above, panel.above());
        height = std::max(height, panel.height());
      }
      heights_.push_back({above, height});
    }
  }

  bool has_masked() const {
    return std::any_of(rows_.begin(), rows_.end(), [](const std::vector<Panel>& row) {
      return std::any_of(row.begin(), row.end(), [](const Panel& panel) { return panel.has_masked(); });
    });
  }

  // Below `top`; the place after the last row and the last column go to `bottom` and `right`.
  void draw(int top, ColorScale scale, double largest, Drawing& to, int& right, int& bottom) const {
    bottom = top;
    right = margin;
    for (size_t i = 0; i < rows_.size(); ++i) {
      int x = margin;
      for (size_t j = 0; j < rows_[i].size(); ++j) {
        rows_[i][j].draw(x + columns_[j].before, bottom + heights_[i].before, scale, largest, to);
        x += columns_[j].before + columns_[j].size + gap;
      }
      right = std::max(right, x - gap);
      bottom += heights_[i].before + heights_[i].size + gap;
    }
  }

 private:
  struct Extent {
    int before = 0, size = 0;
  };
  std::vector<std::vector<Panel>> rows_;
  std::vector<Extent> columns_, heights_;
};

int width_of_words(const HeatMapGrid& grid) {
  return static_cast<int>(std::max(text_width(grid.title, title_size), text_width(grid.caption, caption_size)));
}

}  // namespace

Drawing draw_heat_maps(const HeatMapGrid& grid, int side, bool square) {
  if (grid.maps.empty() || grid.maps[0].empty()) throw ValueError("heat maps: there is none to draw");
  Drawing out;
  int top = margin + 14, right = 0, bottom = 0;
  out.texts.push_back({double(margin), double(top), grid.title, title_size, Drawing::Anchor::start, false, ink});
  if (!grid.caption.empty()) {
    top += 18;
    out.texts.push_back({double(margin), double(top), grid.caption, caption_size, Drawing::Anchor::start, false, grey});
  }
  const double size = largest_in(grid), largest = grid.scale == ColorScale::share ? end_of_shares(size) : size;
  const Layout layout(grid, cell_size(grid, side, square));
  layout.draw(top + gap, grid.scale, largest, out, right, bottom);
  const int after = Legend(grid.scale, largest, layout.has_masked()).draw(margin, bottom, out);
  out.width = std::max({right, after, margin + width_of_words(grid)}) + margin;
  out.height = bottom + Legend::height + margin;
  return out;
}

}  // namespace glass
