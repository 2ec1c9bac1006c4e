// One heat map at its place in a drawing.
#pragma once

#include <string>
#include <vector>

#include "glassformer/inspect/heat_map_grid.h"

namespace glass {

// What is drawn of a matrix: its cells, or the largest of each block of them.
struct Cells {
  Dim rows = 0, columns = 0;
  std::vector<double> values;
  std::vector<bool> allowed;
};

// How large cells are, and by how many they are pooled, for the largest matrix of a grid.
struct CellSize {
  int width = 1, height = 1;
  Dim block_rows = 1, block_columns = 1;

  int x_of(Dim column) const { return static_cast<int>(column / block_columns) * width; }
  int y_of(Dim row) const { return static_cast<int>(row / block_rows) * height; }
};

class Panel {
 public:
  // Keeps a reference to the map.
  Panel(const HeatMap& map, const CellSize& cell);

  int left() const { return left_; }  // room for the rows' names
  int above() const;                  // for the columns' and the title
  int width() const;                  // of the cells, or of the title if that is wider
  int height() const;
  bool has_masked() const;
  // The first cell's corner goes to (x, y).
  void draw(int x, int y, ColorScale scale, double largest, Drawing& to) const;

 private:
  void draw_row(int x, int y, Dim i, ColorScale scale, double largest, Drawing& to) const;
  void draw_lattice(int x, int y, Drawing& to) const;
  void draw_names(int x, int y, Drawing& to) const;
  double row_size() const;
  double column_size() const;

  const HeatMap& map_;
  CellSize cell_;
  Cells cells_;
  int left_ = 0, above_ = 0;
};

}  // namespace glass
