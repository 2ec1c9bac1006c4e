// An attention without one of its heads: its columns of the output matrix are zero for a while.
#pragma once

#include "glassformer/tensor/tensor.h"

namespace glass {

// Zeroes columns [begin,end) of a matrix, and puts them back.
class ColumnsSilenced {
 public:
  ColumnsSilenced(const Tensor& matrix, Dim begin, Dim end)
      : columns_(matrix.narrowed(1, begin, end)), before_(columns_.clone()) {
    columns_.fill(0);
  }
  ~ColumnsSilenced() { columns_.copy_from(before_); }
  ColumnsSilenced(const ColumnsSilenced&) = delete;
  ColumnsSilenced& operator=(const ColumnsSilenced&) = delete;

 private:
  Tensor columns_, before_;
};

}  // namespace glass
