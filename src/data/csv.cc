#include <charconv>
#include <cmath>
#include <optional>

#include "glassformer/base/error.h"
#include "glassformer/data/series.h"
#include "glassformer/data/text.h"

namespace glass {

namespace {

// Fields may be quoted ("a, b", with "" for a quote).
std::vector<std::string> split_fields(const std::string& line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += line[++i];
    } else if (line[i] == '"') {
      quoted = !quoted;
    } else if (line[i] == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += line[i];
    }
  }
  return fields;
}

std::optional<double> number(const std::string& field) {
  const size_t begin = field.find_first_not_of(" \t"), end = field.find_last_not_of(" \t");
  if (begin == std::string::npos) return {};
  double value = 0;
  const auto [stop, error] = std::from_chars(field.data() + begin, field.data() + end + 1, value);
  if (error != std::errc() || stop != field.data() + end + 1 || !std::isfinite(value)) return {};
  return value;
}

std::string join(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// Which columns to read: by name or by number, or all that are numbers in the first row of data.
std::vector<size_t> chosen_columns(const std::string& path, const std::vector<std::string>& header,
                                   const std::vector<std::string>& first, const std::vector<std::string>& wanted) {
  std::vector<size_t> chosen;
  for (const std::string& name : wanted) {
    size_t place = 0;
    while (place < header.size() && header[place] != name) ++place;
    if (place == header.size()) throw InputError(path + ": no column \"" + name + "\"; it has " + join(header));
    chosen.push_back(place);
  }
  for (size_t i = 0; wanted.empty() && i < first.size(); ++i) {
    if (number(first[i])) chosen.push_back(i);
  }
  if (chosen.empty()) throw InputError(path + ": no numeric column in its first row of data");
  return chosen;
}

}  // namespace

Series read_csv(const std::string& path, const std::vector<std::string>& columns) {
  std::vector<std::string> lines = read_lines(path);
  std::vector<std::string> header = split_fields(lines[0]);
  size_t first_row = 1;
  bool named = false;
  for (const std::string& field : header) named |= !number(field).has_value();
  if (!named) {  // no header: columns are called by their number
    for (size_t i = 0; i < header.size(); ++i) header[i] = std::to_string(i + 1);
    first_row = 0;
  }
  if (lines.size() <= first_row) throw InputError(path + ": has no rows of data");
  const auto chosen = chosen_columns(path, header, split_fields(lines[first_row]), columns);
  Series series;
  for (const size_t column : chosen) series.columns.push_back(column < header.size() ? header[column] : std::to_string(column + 1));
  for (size_t i = first_row; i < lines.size(); ++i) {
    if (lines[i].empty() && i + 1 == lines.size()) continue;
    const auto fields = split_fields(lines[i]);
    std::vector<double> row;
    for (size_t c = 0; c < chosen.size(); ++c) {
      const auto value = chosen[c] < fields.size() ? number(fields[chosen[c]]) : std::nullopt;
      if (!value) {
        throw InputError(path + ":" + std::to_string(i + 1) + ": column \"" + series.columns[c] +
                         "\" holds no finite number; fill the gap, or name other columns");
      }
      row.push_back(*value);
    }
    series.rows.push_back(std::move(row));
  }
  return series;
}

ColumnStatistics column_statistics(const Series& series, Dim begin, Dim end) {
  const size_t columns = series.columns.size();
  ColumnStatistics out{std::vector<double>(columns), std::vector<double>(columns)};
  const double count = static_cast<double>(std::max<Dim>(1, end - begin));
  for (size_t c = 0; c < columns; ++c) {
    for (Dim r = begin; r < end; ++r) out.mean[c] += series.rows[static_cast<size_t>(r)][c] / count;
    for (Dim r = begin; r < end; ++r) {
      const double difference = series.rows[static_cast<size_t>(r)][c] - out.mean[c];
      out.deviation[c] += difference * difference / count;
    }
    out.deviation[c] = out.deviation[c] > 0 ? std::sqrt(out.deviation[c]) : 1;
  }
  return out;
}

Windows make_windows(const Series& series, Dim begin, Dim end, Dim history, Dim horizon,
                     const std::vector<double>& mean, const std::vector<double>& deviation) {
  const Dim count = end - begin - history - horizon + 1, columns = static_cast<Dim>(series.columns.size());
  if (count < 1) {
    throw InputError("series: " + std::to_string(end - begin) + " rows are fewer than history " +
                     std::to_string(history) + " + horizon " + std::to_string(horizon));
  }
  Windows windows{Tensor::empty({count, history, columns}), Tensor::empty({count, horizon, columns})};
  auto copy = [&](Tensor& to, Dim window, Dim from, Dim steps) {
    float* out = to.data<float>() + window * steps * columns;
    for (Dim step = 0; step < steps; ++step) {
      const auto& row = series.rows[static_cast<size_t>(begin + window + from + step)];
      for (size_t c = 0; c < row.size(); ++c) *out++ = static_cast<float>((row[c] - mean[c]) / deviation[c]);
    }
  };
  for (Dim window = 0; window < count; ++window) {
    copy(windows.history, window, 0, history);
    copy(windows.future, window, history, horizon);
  }
  return windows;
}

}  // namespace glass
