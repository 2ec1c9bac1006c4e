#include "glassformer/tensor/safetensors.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "glassformer/base/atomic_file.h"
#include "glassformer/base/error.h"

namespace glass {

namespace {

using Json = nlohmann::json;

constexpr uint64_t largest_header = 100'000'000;  // as the format's own readers
constexpr const char* byte_type = "U8";
constexpr const char* metadata_name = "__metadata__";

struct TypeName {
  const char* name;
  DType dtype;
};
constexpr TypeName type_names[] = {{"F32", DType::f32}, {"F64", DType::f64}, {"BF16", DType::bf16},
                                   {"I32", DType::i32}, {"I64", DType::i64}, {"BOOL", DType::boolean}};

const char* name_of(DType dtype) {
  for (const TypeName& type : type_names) {
    if (type.dtype == dtype) return type.name;
  }
  return byte_type;
}

// One entry of the header, checked.
struct Entry {
  std::string name, type;
  std::vector<Dim> shape;
  uint64_t begin = 0, end = 0;
};

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path) {
    std::error_code error;
    const std::filesystem::file_status status = std::filesystem::status(path, error);
    if (is_directory(status)) fail("it is a folder, not a model file");
    if (exists(status) && !is_regular_file(status)) fail("it is a device or a pipe; a model has to be a file");
    file_.open(path, std::ios::binary);
    if (!file_) fail(std::string("cannot be opened: ") + std::strerror(errno));
    file_.seekg(0, std::ios::end);
    size_ = static_cast<uint64_t>(file_.tellg());
    file_.seekg(0);
  }

  SafeTensors read() {
    const Json header = read_header();
    SafeTensors out;
    std::vector<Entry> entries;
    for (const auto& [name, value] : header.items()) {
      if (name == metadata_name) {
        out.metadata = metadata(value);
      } else {
        entries.push_back(entry(name, value));
      }
    }
    check_layout(entries);
    for (const Entry& e : entries) load(e, out);
    return out;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw InputError(path_ + ": " + what); }

  Json read_header() {
    unsigned char prefix[8] = {};
    if (size_ < 8 || !file_.read(reinterpret_cast<char*>(prefix), 8)) {
      fail("not a safetensors file: it has only " + std::to_string(size_) + " bytes");
    }
    uint64_t length = 0;
    for (int i = 7; i >= 0; --i) length = length << 8 | prefix[i];
    if (length > largest_header || length > size_ - 8) {
      recognise_foreign(prefix);
      fail("not a safetensors file, or cut off: its header claims " + std::to_string(length) + " bytes, the file has " +
           std::to_string(size_));
    }
    std::string text(length, '\0');
    if (!file_.read(text.data(), static_cast<std::streamsize>(length))) fail("cannot be read");
    data_begin_ = 8 + length;
    return parse(text);
  }

  // Only for what cannot be a header's length: 128, for one, begins as a pickle does.
  void recognise_foreign(const unsigned char* prefix) const {
    if (std::memcmp(prefix, "PK\3\4", 4) == 0) {
      fail("this is a zip archive (PyTorch's .pt?), not a safetensors file; convert it first");
    }
    if (prefix[0] == 0x80 && prefix[1] <= 5) fail("this is a Python pickle, not a safetensors file; convert it first");
    if (std::memcmp(prefix, "GGUF", 4) == 0) fail("this is a GGUF file, not a safetensors file");
  }

  // Rejects nesting beyond what the format has (three levels) before it can cost anything, and names that come twice.
  Json parse(const std::string& text) const {
    std::set<std::string> keys;
    bool too_deep = false, twice = false;
    auto watch = [&](int depth, Json::parse_event_t event, Json& value) {
      too_deep |= depth > 4;
      if (event == Json::parse_event_t::key && depth == 1) {
        twice |= !keys.insert(value.get<std::string>()).second;
      }
      return !too_deep;
    };
    Json header;
    try {
      header = Json::parse(text, watch);
    } catch (const Json::exception& error) {
      fail(std::string("its header is not valid JSON: ") + error.what());
    }
    if (too_deep || twice || !header.is_object()) fail("its header is not a safetensors header");
    return header;
  }

  std::map<std::string, std::string> metadata(const Json& value) const {
    if (!value.is_object()) fail("__metadata__ is not an object");
    std::map<std::string, std::string> out;
    for (const auto& [key, text] : value.items()) {
      if (!text.is_string()) fail("metadata \"" + key + "\" is not a string");
      out[key] = text.get<std::string>();
    }
    return out;
  }

  uint64_t element_size(const Entry& e) const {
    if (e.type == byte_type) return 1;
    for (const TypeName& type : type_names) {
      if (e.type == type.name) return dtype_size(type.dtype);
    }
    fail("tensor \"" + e.name + "\" has the unknown type \"" + e.type + "\"");
  }

  // What the shape takes, having noted its extents in the entry.
  uint64_t byte_count(const Json& shape, Entry& e) const {
    const auto wrong = [&](const char* what) { fail("tensor \"" + e.name + "\": shape " + shape.dump() + " " + what); };
    if (shape.size() > Shape::max_rank) wrong("has more than 8 axes");
    Dim span = 1;  // the product of the extents above zero: strides are made of it, even where there are no elements
    bool empty = false;
    for (const Json& extent : shape) {
      if (!extent.is_number_unsigned()) wrong("has an extent that is not a natural number");
      const auto count = extent.get<uint64_t>();
      if (__builtin_mul_overflow(span, std::max<uint64_t>(1, count), &span)) wrong("has too many elements");
      empty |= count == 0;
      e.shape.push_back(static_cast<Dim>(count));
    }
    uint64_t bytes = 0;
    if (__builtin_mul_overflow(empty ? 0 : span, element_size(e), &bytes) || bytes > size_) {
      wrong("needs more bytes than the file has");
    }
    return bytes;
  }

  Entry entry(const std::string& name, const Json& value) const {
    Entry e;
    e.name = name;
    const auto wrong = [&](const std::string& what) { fail("tensor \"" + name + "\": " + what); };
    if (!value.is_object() || !value.contains("dtype") || !value.contains("shape") || !value.contains("data_offsets")) {
      wrong("its header needs dtype, shape and data_offsets");
    }
    const Json &type = value["dtype"], &shape = value["shape"], &offsets = value["data_offsets"];
    if (!type.is_string() || !shape.is_array() || !offsets.is_array() || offsets.size() != 2) wrong("malformed header");
    e.type = type.get<std::string>();
    const uint64_t bytes = byte_count(shape, e);
    if (!offsets[0].is_number_unsigned() || !offsets[1].is_number_unsigned()) wrong("offsets are not natural numbers");
    e.begin = offsets[0].get<uint64_t>();
    e.end = offsets[1].get<uint64_t>();
    if (e.begin > e.end || e.end > size_ - data_begin_)
      wrong("its data lies outside of the file; is the file cut off?");
    if (e.end - e.begin != bytes) wrong("shape " + shape.dump() + " does not fit its number of bytes");
    return e;
  }

  // The data must be the tensors' bytes, side by side, without gap or overlap.
  void check_layout(std::vector<Entry>& entries) const {
    std::sort(entries.begin(), entries.end(),
              [](const Entry& a, const Entry& b) { return std::pair(a.begin, a.end) < std::pair(b.begin, b.end); });
    uint64_t end = 0;
    for (const Entry& e : entries) {
      if (e.begin != end) fail("tensor \"" + e.name + "\" overlaps another, or leaves a gap before it");
      end = e.end;
    }
    if (end != size_ - data_begin_) fail("the file has bytes that belong to no tensor, or is cut off");
  }

  void load(const Entry& e, SafeTensors& out) {
    const auto bytes = static_cast<std::streamsize>(e.end - e.begin);
    char* target = nullptr;
    if (e.type == byte_type) {
      std::string& payload = out.bytes[e.name];
      payload.resize(static_cast<size_t>(bytes));
      target = payload.data();
    } else {
      const auto* type = std::find_if(std::begin(type_names), std::end(type_names),
                                      [&](const TypeName& t) { return e.type == t.name; });
      Tensor& tensor = out.tensors[e.name] = Tensor::empty(Shape(e.shape), type->dtype);
      target = static_cast<char*>(tensor.raw());
    }
    file_.seekg(static_cast<std::streamoff>(data_begin_ + e.begin));
    if (!file_.read(target, bytes)) fail("cannot be read to its end");
    if (e.type == std::string("BOOL")) {
      for (std::streamsize i = 0; i < bytes; ++i) target[i] = target[i] != 0;
    }
  }

  std::string path_;
  std::ifstream file_;
  uint64_t size_ = 0, data_begin_ = 0;
};

// A header padded with blanks so that the data begins at a multiple of 64.
std::string header_text(const Json& header, const std::string& path) {
  std::string text;
  try {
    text = header.dump();
  } catch (const Json::type_error&) {
    throw ValueError(path + ": cannot be written: a name or a text for its header is not UTF-8");
  }
  while ((text.size() + 8) % 64 != 0) text += ' ';
  std::string prefix(8, '\0');
  for (size_t i = 0; i < 8; ++i) prefix[i] = static_cast<char>(text.size() >> (8 * i));
  return prefix + text;
}

}  // namespace

SafeTensors read_safetensors(const std::string& path) { return Reader(path).read(); }

void write_safetensors(const std::string& path, const SafeTensors& contents) {
  Json header = Json::object();
  if (!contents.metadata.empty()) header[metadata_name] = contents.metadata;
  uint64_t offset = 0;
  auto place = [&](const std::string& name, const char* type, const Json& shape, uint64_t bytes) {
    if (name == metadata_name || header.contains(name)) throw ValueError(path + ": two entries named \"" + name + "\"");
    header[name] = {{"dtype", type}, {"shape", shape}, {"data_offsets", {offset, offset + bytes}}};
    offset += bytes;
  };
  for (const auto& [name, tensor] : contents.tensors) {
    Json shape = Json::array();
    for (const Dim dim : tensor.shape()) shape.push_back(static_cast<uint64_t>(dim));
    place(name, name_of(tensor.dtype()), shape, static_cast<uint64_t>(tensor.numel()) * dtype_size(tensor.dtype()));
  }
  for (const auto& [name, payload] : contents.bytes)
    place(name, byte_type, Json::array({payload.size()}), payload.size());

  const std::string text = header_text(header, path);
  AtomicFile file(path);
  file.write(text.data(), text.size());
  for (const auto& [name, tensor] : contents.tensors) {
    const Tensor dense = tensor.contiguous();
    file.write(dense.raw(), static_cast<size_t>(dense.numel()) * dtype_size(dense.dtype()));
  }
  for (const auto& [name, payload] : contents.bytes) file.write(payload.data(), payload.size());
  file.commit();
}

}  // namespace glass
