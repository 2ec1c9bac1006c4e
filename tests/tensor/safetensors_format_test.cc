// The safetensors format beyond what this project's own models use: what other writers may do, and what ours refuses.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>

#include "glassformer/base/error.h"
#include "glassformer/tensor/safetensors.h"

namespace glass {
namespace {

class SafeTensorsFormat : public ::testing::Test {
 protected:
  SafeTensorsFormat() {
    std::string name = (std::filesystem::temp_directory_path() / "glassformer.XXXXXX").string();
    folder_ = mkdtemp(name.data());
    path_ = folder_ / "file.safetensors";
  }
  ~SafeTensorsFormat() override { std::filesystem::remove_all(folder_); }

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
  // The message of the refusal.
  std::string refusal() const {
    try {
      read_safetensors(path_);
    } catch (const InputError& error) {
      return error.what();
    } catch (const std::exception& error) {
      ADD_FAILURE() << "not an InputError: " << error.what();
    }
    return {};
  }
  void expect_refused(const std::string& why) const {
    const std::string message = refusal();
    EXPECT_TRUE(message.starts_with(path_)) << message;
    EXPECT_NE(message.find(why), std::string::npos) << message << "\ndoes not say: " << why;
  }

  std::filesystem::path folder_;
  std::string path_;
};

// Other writers pad to 8 bytes. Lengths of 128 + 256·n begin with the byte that a pickle begins with.
TEST_F(SafeTensorsFormat, HeadersOfEveryLengthAreRead) {
  const std::string header = R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
  for (size_t length = 56; length <= 1600; length += 8) {
    put_header(header + std::string(length - header.size(), ' '), std::string("\0\0\x80\x3f", 4));
    ASSERT_EQ(read_safetensors(path_).tensors.at("a").item(), 1) << length;
  }
}

TEST_F(SafeTensorsFormat, EveryTypeKeepsItsBits) {
  SafeTensors contents;
  contents.tensors["f32"] = Tensor::from<float>({1.5f, -0.f, 1e-40f}, {3});
  contents.tensors["f64"] = Tensor::from<double>({0.1, -1e300}, {2, 1});
  contents.tensors["bf16"] = Tensor::from<float>({1, -2.5f}, {2}).to(DType::bf16);
  contents.tensors["i32"] = Tensor::from<int32_t>({-1, 1 << 30}, {2});
  contents.tensors["i64"] = Tensor::from<int64_t>({INT64_MIN, 7}, {1, 2});
  contents.tensors["bool"] = Tensor::full({3}, 1, DType::boolean);
  contents.tensors["scalar"] = Tensor::scalar(3);
  contents.tensors["empty"] = Tensor::zeros({2, 0, 3});
  contents.bytes["no bytes"] = "";
  write_safetensors(path_, contents);
  const SafeTensors read = read_safetensors(path_);
  EXPECT_EQ(read.bytes, contents.bytes);
  ASSERT_EQ(read.tensors.size(), contents.tensors.size());
  for (const auto& [name, tensor] : contents.tensors) {
    const Tensor& got = read.tensors.at(name);
    EXPECT_EQ(got.dtype(), tensor.dtype()) << name;
    ASSERT_EQ(got.shape(), tensor.shape()) << name;
    EXPECT_EQ(std::memcmp(got.raw(), tensor.raw(), static_cast<size_t>(got.numel()) * dtype_size(got.dtype())), 0)
        << name;
  }
}

TEST_F(SafeTensorsFormat, ViewsAreWrittenDense) {
  SafeTensors contents;
  contents.tensors["t"] = Tensor::arange(6, DType::f32).reshaped({2, 3}).transposed(0, 1);
  write_safetensors(path_, contents);
  const Tensor read = read_safetensors(path_).tensors.at("t");
  EXPECT_EQ(read.shape(), (Shape{3, 2}));
  EXPECT_EQ(read.to_vector(), (std::vector<double>{0, 3, 1, 4, 2, 5}));
}

TEST_F(SafeTensorsFormat, DataBeginsAligned) {
  SafeTensors contents;
  for (const char* name : {"a", "abcdefg", "abcdefghijklm"}) {
    contents.tensors[name] = Tensor::zeros({2});
    write_safetensors(path_, contents);
    uint64_t header = 0;
    std::memcpy(&header, bytes().data(), 8);
    EXPECT_EQ((8 + header) % 8, 0u);
  }
}

// Any non-zero byte is true, and a C++ bool has to be 0 or 1.
TEST_F(SafeTensorsFormat, TruthsBecomeOne) {
  put_header(R"({"a":{"dtype":"BOOL","shape":[3],"data_offsets":[0,3]}})", std::string("\0\x02\xff", 3));
  const Tensor read = read_safetensors(path_).tensors.at("a");
  const auto* raw = static_cast<const unsigned char*>(read.raw());
  EXPECT_EQ((std::vector<int>{raw[0], raw[1], raw[2]}), (std::vector<int>{0, 1, 1}));
}

TEST_F(SafeTensorsFormat, ExtentsThatOverflowBesideAZero) {
  for (const char* shape : {"[0,9223372036854775808]", "[9223372036854775808,0]", "[0,4294967296,4294967296]",
                            "[18446744073709551615]", "[0,18446744073709551616]", "[1,1,1,1,1,1,1,1,1]"}) {
    put_header(std::string(R"({"a":{"dtype":"F32","shape":)") + shape + R"(,"data_offsets":[0,0]}})", "");
    EXPECT_NE(refusal(), "") << shape;
  }
}

TEST_F(SafeTensorsFormat, GapsAndOverlapsAndRestsAreRefused) {
  const auto two = [](const char* a, const char* b) {
    return std::string(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":)") + a +
           R"(},"b":{"dtype":"F32","shape":[1],"data_offsets":)" + b + "}}";
  };
  put_header(two("[0,4]", "[4,8]"), "12345678");
  EXPECT_EQ(read_safetensors(path_).tensors.size(), 2u);
  put_header(two("[4,8]", "[0,4]"), "12345678");  // in another order than the names
  EXPECT_EQ(read_safetensors(path_).tensors.size(), 2u);
  put_header(two("[0,4]", "[2,6]"), "123456");
  expect_refused("overlaps");
  put_header(two("[0,4]", "[6,10]"), "1234567890");
  expect_refused("gap");
  put_header(two("[0,4]", "[4,8]"), "123456789");
  expect_refused("belong to no tensor");
  put_header(two("[0,4]", "[4,8]"), "1234567");
  expect_refused("cut off");
}

TEST_F(SafeTensorsFormat, OtherFormatsAreNamed) {
  using namespace std::string_literals;
  const std::pair<std::string, const char*> files[] = {
      {"PK\3\4\x14\0\0\0\0\0 archive/data.pkl"s, "zip"},
      {"\x80\x02}q\0(X\0\0\0\0 a pickle"s, "pickle"},
      {"GGUF\3\0\0\0\0\0\0\0"s, "GGUF"},
      {"<html><body>404</body></html>", "not a safetensors file"},
      {"short", "only 5 bytes"},
      {"", "only 0 bytes"},
  };
  for (const auto& [contents, name] : files) {
    put(contents);
    expect_refused(name);
  }
}

TEST_F(SafeTensorsFormat, WhatIsNoFileIsRefusedWithoutWaiting) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);  // opening it would wait for a writer
  expect_refused("pipe");
  EXPECT_THROW(read_safetensors("/dev/zero"), InputError);
  EXPECT_THROW(read_safetensors(folder_.string()), InputError);
}

TEST_F(SafeTensorsFormat, WhatCannotBeWrittenLeavesTheOldFile) {
  SafeTensors contents;
  contents.tensors["a"] = Tensor::zeros({2});
  write_safetensors(path_, contents);
  const std::string old = bytes();
  const auto refused = [&](const std::function<void(SafeTensors&)>& change) {
    SafeTensors changed = contents;
    change(changed);
    EXPECT_THROW(write_safetensors(path_, changed), ValueError);
    EXPECT_EQ(bytes(), old);
  };
  refused([](SafeTensors& c) { c.bytes["a"] = "a name twice"; });
  refused([](SafeTensors& c) { c.tensors["__metadata__"] = Tensor::zeros({1}); });
  refused([](SafeTensors& c) { c.metadata["text"] = "\xff"; });
  refused([](SafeTensors& c) { c.metadata["\xff"] = "text"; });
  refused([](SafeTensors& c) { c.tensors["\xff"] = Tensor::zeros({1}); });
  EXPECT_THROW(write_safetensors((folder_ / "none" / "file").string(), contents), SystemError);
}

}  // namespace
}  // namespace glass
