// An inspector of a small model, and its answers taken apart.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "glassformer/inspect/inspector.h"
#include "inspect/small_pair.h"

namespace glass::testing {

// A matrix file as docs/inspector-api.md describes it, its cells as numbers; masked ones are NaN.
struct MatrixFile {
  int type = 0;
  std::vector<uint32_t> sizes;
  float low = 0, high = 0;
  std::vector<double> cells;
};

inline MatrixFile matrix_of(const std::string& bytes) {
  MatrixFile file;
  size_t place = 8;
  const auto take = [&](auto& into) {
    std::memcpy(&into, bytes.data() + place, sizeof into);
    place += sizeof into;
  };
  EXPECT_EQ(bytes.substr(0, 4), "GFM1");
  EXPECT_EQ(bytes[4], 1);
  EXPECT_EQ(bytes[7], 0);
  file.type = bytes[5];
  file.sizes.resize(static_cast<size_t>(bytes[6]));
  size_t count = 1;
  for (uint32_t& size : file.sizes) {
    take(size);
    count *= size;
  }
  take(file.low);
  take(file.high);
  for (size_t i = 0; i < count; ++i) {
    if (file.type == 2) {
      float cell = 0;
      take(cell);
      file.cells.push_back(static_cast<double>(cell));
      continue;
    }
    uint8_t q = 0;
    take(q);
    const double share = (q - 1) / 254.0, range = static_cast<double>(file.high) - static_cast<double>(file.low);
    const double value = file.type == 1 ? share * share : static_cast<double>(file.low) + share * range;
    file.cells.push_back(q == 0 ? std::nan("") : value);
  }
  EXPECT_EQ(place, bytes.size());
  return file;
}

class Asking {
 public:
  using Json = nlohmann::json;

  // A sharpened small model in a file, and its inspector.
  explicit Asking(PositionKind positions = PositionKind::sinusoidal, const std::string& run = {}) {
    SavedTranslation saved = small_saved(positions);
    scale_weights(*saved.model, 2.5f);
    const std::string path = folder_.file("model.safetensors");
    write_safetensors(path, translation_contents(*saved.model, *saved.source, *saved.target, {{"step", "7"}}));
    saved_ = load_translation(path);
    inspector_ = std::make_unique<Inspector>(InspectorOptions{"glassformer test", path, run});
  }

  const SavedTranslation& saved() const { return saved_; }

  Answer ask(const std::string& path, const std::map<std::string, std::string>& query = {}) {
    return inspector_->answer({"GET", path, query, {}});
  }
  Answer post(const std::string& path, const std::string& body) { return inspector_->answer({"POST", path, {}, body}); }

  Json json(const std::string& path, const std::map<std::string, std::string>& query = {}) {
    return good(ask(path, query));
  }
  Json posted(const std::string& path, const Json& body) { return good(post(path, body.dump())); }
  MatrixFile matrix(const std::string& path, const std::map<std::string, std::string>& query = {}) {
    const Answer answer = ask(path, query);
    EXPECT_EQ(answer.status, 200) << answer.body;
    EXPECT_EQ(answer.type, "application/octet-stream");
    return matrix_of(answer.body);
  }
  // A trace of the pair; its path.
  std::string trace(const std::string& source = "two dogs run", const std::string& target = "zwei hunde") {
    return "traces/" + posted("traces", {{"source", source}, {"target", target}})["id"].get<std::string>();
  }

 private:
  static Json good(const Answer& answer) {
    EXPECT_EQ(answer.status, 200) << answer.body;
    EXPECT_EQ(answer.type, "application/json");
    return Json::parse(answer.body);
  }

  Folder folder_;
  SavedTranslation saved_;
  std::unique_ptr<Inspector> inspector_;
};

}  // namespace glass::testing
