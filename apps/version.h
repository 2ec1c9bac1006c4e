// What this program is and runs on, for people and for machines.
#pragma once

#include <string>

namespace glass::program {

struct Version {
  std::string program;  // "0.1.0"
  std::string isa;      // "avx512"
  bool bf16 = false;    // products of bf16 numbers in hardware
  int threads = 0;
  std::string onednn;  // "2.6.0"
};

Version version();
std::string version_text();  // what --version prints

}  // namespace glass::program
