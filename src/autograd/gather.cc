// Selecting by index.
#include "kernels/gather.h"

#include "autograd/op_support.h"

namespace glass {

namespace {

void check_range(const char* operation, const Tensor& ids, Dim bound) {
  const int64_t* id = ids.data<int64_t>();
  for (Dim i = 0; i < ids.numel(); ++i) {
    if (id[i] < 0 || id[i] >= bound) {
      throw ValueError(std::string(operation) + ": index " + std::to_string(id[i]) + " at place " + std::to_string(i) +
                       " of " + ids.shape().text() + " is outside of [0," + std::to_string(bound) + ")");
    }
  }
}

// table[index[i]] += rows[i]
void add_rows(const Tensor& rows, const Tensor& index, Tensor& table) {
  const Tensor dense = rows.contiguous();
  for_float(rows, [&]<class T>(T) {
    kernels::scatter_add_rows(dense.data<T>(), table.size(1), index.data<int64_t>(), index.numel(), table.data<T>());
  });
  table.mark_changed();
}

}  // namespace

Tensor embedding(const Tensor& table, const Tensor& ids) {
  require_float("embedding", table);
  if (table.rank() != 2) throw ShapeError("embedding: the table is [V,D], got " + table.shape().text());
  const Tensor index = dense_ids("embedding", ids);
  check_range("embedding", index, table.size(0));
  const Tensor dense = table.contiguous();
  Shape shape = ids.shape();
  shape.append(table.size(1));
  Tensor y = Tensor::empty(shape, table.dtype());  // y[i] = table[ids[i]]
  for_float(table, [&]<class T>(T) {
    kernels::gather_rows(dense.data<T>(), dense.size(1), index.data<int64_t>(), index.numel(), y.data<T>());
  });
  return record("embedding", y, {table},
                [index = save(index), from = table.shape(), leaf = LeafGradient(table)](const Tensor& dy) {
                  const auto write = [&](Tensor& sum, bool add) {
                    if (!add) sum.fill(0);
                    add_rows(dy, *index, sum);
                  };
                  if (leaf.take(dy.dtype(), write)) return Tensors{Tensor()};
                  Tensor dtable = Tensor::empty(from, dy.dtype());
                  write(dtable, false);
                  return Tensors{dtable};
                });
}

Tensor index_select(const Tensor& x, int axis, const Tensor& index) {
  if (index.rank() != 1) throw ShapeError("index_select: the index has one axis, got " + index.shape().text());
  const Tensor ids = dense_ids("index_select", index);
  check_range("index_select", ids, x.size(axis));
  Shape shape = x.shape();
  shape[axis] = ids.numel();
  Tensor y = Tensor::empty(shape, x.dtype());  // y[.., i, ..] = x[.., index[i], ..]
  const int64_t* id = ids.data<int64_t>();
  for (Dim i = 0; i < ids.numel(); ++i) y.narrowed(axis, i, i + 1).copy_from(x.narrowed(axis, id[i], id[i] + 1));
  return record("index_select", y, {x}, [ids = save(ids), from = x.shape(), axis](const Tensor& dy) {
    Tensor dx = Tensor::zeros(from, dy.dtype());
    for (Dim i = 0; i < ids->numel(); ++i) {
      const Dim target = ids->data<int64_t>()[i];
      Tensor part = dx.narrowed(axis, target, target + 1);
      part.copy_from(add(part, dy.narrowed(axis, i, i + 1)));
    }
    return Tensors{dx};
  });
}

}  // namespace glass
