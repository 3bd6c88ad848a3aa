#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/base/json.h"
#include "assay/base/result.h"

namespace assay {

/// Collects all faults of a document, so that they are corrected in one go.
class Problems {
 public:
  explicit Problems(std::string origin) : origin_(std::move(origin)) {}

  void add(std::string_view path, std::string_view text);
  [[nodiscard]] bool is_empty() const { return lines_.empty(); }

  /// One line a problem: "specs/x.json: models[1].inputs: …". Errors: kInvalidArgument if any.
  [[nodiscard]] Status status() const;

 private:
  std::string origin_;
  std::vector<std::string> lines_;
};

/// A value in a document with its path ("models[1].inputs"), read strictly: a wrong type is a
/// problem and the default is returned, so that reading goes on. Must not outlive the document.
class Node {
 public:
  Node(const Json& value, std::string path, Problems& problems)
      : value_(&value), path_(std::move(path)), problems_(&problems) {}

  [[nodiscard]] const Json& json() const { return *value_; }
  [[nodiscard]] const std::string& path() const { return path_; }

  /// Notes a problem of this value.
  void complain(std::string_view text) const;

  /// Complains that this value has the wrong type: "must be …, not a string".
  void complain_of_type(std::string_view wanted) const;

  /// False, with a problem, unless this is an object; keys that are not in `known` are problems
  /// with did-you-mean.
  [[nodiscard]] bool expect_object(std::span<const std::string_view> known) const;

  /// The member, if it is there and not null.
  [[nodiscard]] std::optional<Node> find(std::string_view key) const;

  /// Elements of an array; empty, with a problem, if it is none.
  [[nodiscard]] std::vector<Node> items() const;

  /// Members of an object with free keys; empty, with a problem, if it is none.
  [[nodiscard]] std::vector<std::pair<std::string, Node>> members() const;

  // This value as a type.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::int64_t integer(std::int64_t least, std::int64_t fallback) const;

  // A member as a type; `fallback` when it is absent or wrong.
  [[nodiscard]] std::string text(std::string_view key, std::string fallback = {}) const;
  [[nodiscard]] int integer(std::string_view key, int least, int fallback) const;
  [[nodiscard]] std::uint64_t seed(std::string_view key, std::uint64_t fallback) const;
  [[nodiscard]] std::int64_t duration_ns(std::string_view key, std::int64_t fallback) const;
  [[nodiscard]] std::vector<std::string> texts(std::string_view key,
                                               std::vector<std::string> fallback = {}) const;

 private:
  const Json* value_;
  std::string path_;
  Problems* problems_;
};

}  // namespace assay
