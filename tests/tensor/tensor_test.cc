#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "glassformer/base/error.h"
#include "glassformer/tensor/safetensors.h"
#include "glassformer/tensor/tensor.h"

namespace glass {
namespace {

TEST(Tensor, ViewsShareStorage) {
  Tensor x = Tensor::arange(24, DType::f32).reshaped({2, 3, 4});
  const Tensor t = x.transposed(0, 2);  // [4,3,2]
  EXPECT_EQ(t.shape(), (Shape{4, 3, 2}));
  EXPECT_FALSE(t.is_contiguous());
  EXPECT_EQ(t.at({3, 1, 1}), x.at({1, 1, 3}));
  x.narrowed(1, 2, 3).fill(-1);
  EXPECT_EQ(t.at({0, 2, 1}), -1);
  EXPECT_EQ(t.version(), x.version());
  EXPECT_EQ(t.contiguous().at({3, 2, 0}), -1);
  EXPECT_EQ(x.expanded({5, 2, 3, 4}).strides()[0], 0);
}

TEST(Tensor, ConvertsBetweenTypes) {
  const Tensor x = Tensor::from({-1.5, 0.0, 2.0}, {3});
  EXPECT_EQ(x.to(DType::f32).to(DType::i32).to_vector(), (std::vector<double>{-1, 0, 2}));
  EXPECT_EQ(x.to(DType::boolean).to_vector(), (std::vector<double>{1, 0, 1}));
  EXPECT_EQ(x.to(DType::bf16).to_vector(), (std::vector<double>{-1.5, 0, 2}));
}

TEST(Tensor, Errors) {
  const Tensor x = Tensor::zeros({2, 3});
  EXPECT_THROW(x.data<double>(), TypeError);
  EXPECT_THROW(x.at({0, 3}), ValueError);
  EXPECT_THROW(x.narrowed(1, 2, 4), ValueError);
  EXPECT_THROW(x.reshaped({4}), ShapeError);
  EXPECT_THROW(x.expanded({2, 4}), ShapeError);
  EXPECT_THROW(x.size(2), ValueError);
  EXPECT_THROW(Tensor::from({1.0f, 2.0f}, {3}), ShapeError);
  EXPECT_THROW(Tensor::empty({Dim{1} << 40, Dim{1} << 40}), ShapeError);
  EXPECT_THROW(Tensor::empty({Dim{1} << 50}), SystemError);
}

TEST(Tensor, RehomeMovesEveryHandle) {
  Tensor a = Tensor::from({1.0f, 2.0f, 3.0f, 4.0f}, {2, 2});
  const Tensor other = a;
  Tensor home = Tensor::zeros({10});
  a.rehome(home, 3);
  home.fill(7);
  EXPECT_EQ(other.at({1, 1}), 7);
}

TEST(Memory, IsGivenBackAndReused) {
  const size_t before = memory_use().current;
  const void* first = nullptr;
  {
    const Tensor x = Tensor::empty({1000, 1000});
    first = x.raw();
    EXPECT_GE(memory_use().current, before + 4000000);
  }
  EXPECT_EQ(memory_use().current, before);
  const Tensor y = Tensor::empty({1000, 1000});
  EXPECT_EQ(y.raw(), first);
}

TEST(Memory, NeighboursJoin) {
  const size_t peak_limit = memory_use().current + 3 * 4000000 + 4096;
  reset_peak_memory();
  for (int round = 1; round <= 50; ++round) {  // ever other sizes must not add up
    const Tensor a = Tensor::empty({1000 - round, 1000}), b = Tensor::empty({round, 1000}), c = Tensor::empty({999, 1000});
    EXPECT_EQ(reinterpret_cast<uintptr_t>(b.raw()) % 64, 0u);
  }
  EXPECT_LE(memory_use().peak, peak_limit);
}

TEST(Memory, SeveralThreads) {
  std::vector<std::thread> workers;
  for (int t = 0; t < 4; ++t) {
    workers.emplace_back([t] {
      for (int i = 0; i < 500; ++i) {
        Tensor x = Tensor::full({1 + i % 37, 100}, t);
        ASSERT_EQ(x.at({i % 37, 99}), t);
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
}

class SafeTensorsFile : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = (std::filesystem::temp_directory_path() / ("glass_" + std::to_string(getpid()) + ".safetensors")).string();
    contents_.tensors["b.weight"] = Tensor::arange(6, DType::f32).reshaped({2, 3});
    contents_.tensors["a.ids"] = Tensor::arange(3, DType::i32);
    contents_.bytes["tokenizer"] = std::string("\0\xff text", 7);
    contents_.metadata["config"] = "{\"x\": \"ü\"}";
    write_safetensors(path_, contents_);
  }
  void TearDown() override { std::filesystem::remove(path_); }

  std::string bytes() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void put(const std::string& bytes) const { std::ofstream(path_, std::ios::binary) << bytes; }
  void put_header(const std::string& header, const std::string& data) const {
    std::string prefix(8, '\0');
    for (size_t i = 0; i < 8; ++i) prefix[i] = static_cast<char>(header.size() >> (8 * i));
    put(prefix + header + data);
  }

  std::string path_;
  SafeTensors contents_;
};

TEST_F(SafeTensorsFile, RoundTrip) {
  const SafeTensors read = read_safetensors(path_);
  EXPECT_EQ(read.metadata, contents_.metadata);
  EXPECT_EQ(read.bytes, contents_.bytes);
  ASSERT_EQ(read.tensors.size(), 2u);
  EXPECT_EQ(read.tensors.at("b.weight").shape(), (Shape{2, 3}));
  EXPECT_EQ(read.tensors.at("b.weight").to_vector(), contents_.tensors["b.weight"].to_vector());
  EXPECT_EQ(read.tensors.at("a.ids").dtype(), DType::i32);
  const std::string first = bytes();
  write_safetensors(path_, read);
  EXPECT_EQ(bytes(), first);
}

TEST_F(SafeTensorsFile, EveryTruncationIsAnError) {
  const std::string whole = bytes();
  for (size_t length = 0; length < whole.size(); ++length) {
    put(whole.substr(0, length));
    EXPECT_THROW(read_safetensors(path_), InputError) << length;
  }
  put(whole + "x");
  EXPECT_THROW(read_safetensors(path_), InputError);
}

TEST_F(SafeTensorsFile, HostileHeadersAllocateNothing) {
  const std::string shape_bomb = R"({"a":{"dtype":"F32","shape":[1000000000,1000000000],"data_offsets":[0,4]}})";
  const char* const headers[] = {
      shape_bomb.c_str(),
      R"({"a":{"dtype":"F32","shape":[4294967296,4294967296,16],"data_offsets":[0,4]}})",
      R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})",
      R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})",
      R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,8]}})",
      R"({"a":{"dtype":"F32","shape":[1.5],"data_offsets":[0,4]}})",
      R"({"a":{"dtype":"X","shape":[1],"data_offsets":[0,4]}})",
      R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
      R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
      R"({"__metadata__":{"a":1},"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
      R"({"a":{"shape":[1],"data_offsets":[0,4]}})", R"([1])", R"({"a":)", "",
  };
  const size_t before = memory_use().current;
  reset_peak_memory();
  for (const char* header : headers) {
    put_header(header, "1234");
    EXPECT_THROW(read_safetensors(path_), InputError) << header;
  }
  put_header(std::string(100000, '['), "");
  EXPECT_THROW(read_safetensors(path_), InputError);
  EXPECT_LE(memory_use().peak, before + 4096);
  put("\xff\xff\xff\xff\xff\xff\xff\x7f{}");
  EXPECT_THROW(read_safetensors(path_), InputError);
}

TEST_F(SafeTensorsFile, ForeignFilesAreNamed) {
  put("PK\3\4 and so on and so on");
  try {
    read_safetensors(path_);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("zip"), std::string::npos);
  }
  EXPECT_THROW(read_safetensors("/nonexistent/model"), InputError);
  EXPECT_THROW(read_safetensors("/tmp"), InputError);
}

}  // namespace
}  // namespace glass
