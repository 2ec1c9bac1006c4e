// The safetensors format: 8 bytes of little-endian header length, a JSON header, the data. docs/file-format.md says
// what this project puts in it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "glassformer/tensor/tensor.h"

namespace glass {

// The contents of a file. Byte arrays (dtype U8) are kept apart: they are payloads such as a tokenizer, not numbers.
struct SafeTensors {
  std::map<std::string, Tensor> tensors;
  std::map<std::string, std::string> bytes;
  std::map<std::string, std::string> metadata;
};

// Everything is checked against the file's size before anything is allocated. Throws InputError, naming the file and
// the fault, for anything but a whole, valid file.
SafeTensors read_safetensors(const std::string& path);

// Written so that the old file or the new one is there, whole (base/atomic_file.h). Equal contents give equal bytes.
// Throws SystemError if it cannot be written, ValueError for a name that comes twice or a text that is not UTF-8.
void write_safetensors(const std::string& path, const SafeTensors& contents);

}  // namespace glass
