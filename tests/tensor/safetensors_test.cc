#include "glassformer/tensor/safetensors.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "glassformer/base/error.h"

namespace glass {
namespace {

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
      R"({"a":{"shape":[1],"data_offsets":[0,4]}})",
      R"([1])",
      R"({"a":)",
      "",
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
