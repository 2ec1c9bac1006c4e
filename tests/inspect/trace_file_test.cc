#include "glassformer/inspect/trace_file.h"

#include <gtest/gtest.h>

#include "decode/tiny_models.h"
#include "glassformer/autograd/ops.h"
#include "glassformer/autograd/tap.h"
#include "glassformer/base/error.h"

namespace glass {
namespace {

TEST(TraceFile, HoldsValuesAndGradientsInOrder) {
  Tensor x = Tensor::from<float>({1, 2}, {2}).set_requires_grad(true);
  const Trace trace = Trace::record(
      [&] {
        const Tensor z = tap("z", x * 3.0), a = tap("a", z * z);
        tap("z", a);
        backward(sum(a));
      },
      {.gradients = true});
  const testing::Folder folder;
  const std::string path = folder.file("trace.safetensors");
  write_safetensors(path, trace_contents(trace));
  const SafeTensors read = read_safetensors(path);
  EXPECT_EQ(read.tensors.at("z").to_vector(), (std::vector<double>{3, 6}));
  EXPECT_EQ(read.tensors.at("z#2").to_vector(), (std::vector<double>{9, 36}));
  EXPECT_EQ(read.tensors.at("z.grad").to_vector(), (std::vector<double>{6, 12}));
  EXPECT_EQ(read.metadata.at("format"), "glassformer-trace");
  EXPECT_EQ(names_in_order(read, path), (std::vector<std::string>{"z", "a", "z#2", "z#2.grad", "a.grad", "z.grad"}));
}

TEST(TraceFile, WithoutAnOrderItIsByName) {
  SafeTensors foreign;
  foreign.tensors = {{"b", Tensor::scalar(1)}, {"a", Tensor::scalar(1)}};
  EXPECT_EQ(names_in_order(foreign, "f"), (std::vector<std::string>{"a", "b"}));
  foreign.metadata["order"] = R"(["b","gone","b"])";  // what is there, once; and then the rest
  EXPECT_EQ(names_in_order(foreign, "f"), (std::vector<std::string>{"b", "a"}));
  foreign.metadata["order"] = "7";
  EXPECT_THROW(names_in_order(foreign, "f"), InputError);
}

TEST(TraceFile, StatisticsAloneAreNoTensors) {
  EXPECT_THROW(trace_contents(Trace({.keep_values = false})), ValueError);
}

}  // namespace
}  // namespace glass
