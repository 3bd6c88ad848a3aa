#include "assay/base/json.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <fmt/format.h>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/base/digest.h"
#include "assay/base/fs.h"
#include "assay/base/json_members.h"
#include "assay/base/result.h"

namespace assay {
namespace {

/// Walks over a text and tells how far the parser has come, which it does not do itself.
class FollowedText {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  FollowedText(const char* at, const char** reached) : at_(at), reached_(reached) {}
  reference operator*() const { return *at_; }
  FollowedText& operator++() {
    *reached_ = ++at_;
    return *this;
  }
  FollowedText operator++(int) {
    const auto before = *this;
    ++*this;
    return before;
  }
  bool operator==(const FollowedText& other) const { return at_ == other.at_; }

 private:
  const char* at_;
  const char** reached_;
};

/// Builds a document from the parser's events, and stops at the first thing that it refuses.
class DocumentBuilder : public nlohmann::json_sax<Json> {
 public:
  explicit DocumentBuilder(std::string_view text, const MemberVisitor* visit = nullptr)
      : text_(text), reached_(text.data()), visit_(visit) {}

  /// False where the text is no JSON, or a visitor refused it.
  bool read(JsonComments comments) {
    const FollowedText begin(std::to_address(text_.begin()), &reached_);
    const FollowedText end(text_.data() + text_.size(), &reached_);
    return Json::sax_parse(begin, end, this, Json::input_format_t::json, /*strict=*/true,
                           comments == JsonComments::kAllowed);
  }

  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] const std::optional<Error>& refusal() const { return refusal_; }
  [[nodiscard]] Json take() { return std::move(root_); }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(std::int64_t value) override { return add(value); }
  bool number_unsigned(std::uint64_t value) override { return add(value); }
  bool number_float(double value, const std::string& /*text*/) override { return add(value); }
  bool string(std::string& value) override { return add(std::move(value)); }
  bool binary(Json::binary_t& /*value*/) override { return false; }
  bool start_object(std::size_t /*elements*/) override { return open(Json::object()); }
  bool start_array(std::size_t /*elements*/) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(std::string& name) override {
    auto& object = open_.back();
    const auto [entry, is_new] =
        object.value->get_ref<Json::object_t&>().emplace(std::move(name), nullptr);
    if (!is_new) {
      const auto first = std::ranges::find(object.keys, &entry->first, &Key::name);
      return refuse(fmt::format("duplicate key '{}' in lines {} and {}; remove one", entry->first,
                                line_of(first->at), line_of(reached_)));
    }
    object.keys.push_back({&entry->first, reached_});
    object.element = &entry->second;
    return true;
  }

  bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& error) override {
    std::string_view what = error.what();
    if (const auto bracket = what.find("] "); bracket != std::string_view::npos) {
      what.remove_prefix(bracket + 2);
    }
    return refuse(fmt::format("not valid JSON: {}", what));
  }

 private:
  struct Key {
    const std::string* name;  ///< In the object, whose nodes stay where they are.
    const char* at;
  };
  struct OpenValue {
    Json* value;
    Json* element = nullptr;  ///< Element of an object that takes the value of its last key.
    std::vector<Key> keys;
  };

  [[nodiscard]] std::ptrdiff_t line_of(const char* at) const {
    return 1 + std::count(std::to_address(text_.begin()), at, '\n');
  }

  bool refuse(std::string problem) {
    problem_ = std::move(problem);
    return false;
  }

  Json* place(Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    auto& parent = open_.back();
    if (parent.value->is_array()) {
      parent.value->push_back(std::move(value));
      return &parent.value->back();
    }
    *parent.element = std::move(value);
    return parent.element;
  }

  bool add(Json value) {
    place(std::move(value));
    return finish();
  }

  /// Hands out a member of the document that is whole, and forgets its value.
  bool finish() {
    if (visit_ == nullptr || open_.size() != 1 || !open_.back().value->is_object()) {
      return true;
    }
    const auto& document = open_.back();
    const auto seen = (*visit_)(*document.keys.back().name, *document.element);
    *document.element = nullptr;
    if (!seen) {
      refusal_ = seen.error();
    }
    return seen.has_value();
  }

  bool open(Json value) {
    if (open_.size() == kMaxJsonDepth) {
      return refuse(fmt::format("line {}: lists and objects are nested deeper than {} levels",
                                line_of(reached_), kMaxJsonDepth));
    }
    open_.push_back({.value = place(std::move(value)), .keys = {}});
    return true;
  }

  bool close() {
    open_.pop_back();
    return finish();
  }

  std::string_view text_;
  const char* reached_;
  Json root_;
  const MemberVisitor* visit_;
  std::vector<OpenValue> open_;
  std::string problem_;
  std::optional<Error> refusal_;  ///< Returned by the visitor.
};

}  // namespace

Result<Json> parse_json(std::string_view text, std::string_view origin, JsonComments comments) {
  DocumentBuilder builder(text);
  if (!builder.read(comments)) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("{}: {}", origin, builder.problem()));
  }
  return builder.take();
}

Status visit_members(std::string_view text, std::string_view origin, JsonComments comments,
                     const MemberVisitor& visit) {
  DocumentBuilder builder(text, &visit);
  const bool is_whole = builder.read(comments);
  if (builder.refusal()) {
    return std::unexpected(*builder.refusal());
  }
  if (!is_whole) {
    return fail(ErrorCode::kInvalidArgument, fmt::format("{}: {}", origin, builder.problem()));
  }
  return builder.take().is_object()
             ? Status()
             : fail(ErrorCode::kInvalidArgument, fmt::format("{} is not a JSON object", origin));
}

Result<Json> read_json_file(const std::filesystem::path& path) {
  ASSAY_ASSIGN_OR_RETURN(const auto text, read_file(path, kMaxJsonFileBytes));
  return parse_json(text, path.string());
}

std::string canonical_json(const Json& value) {
  return value.dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
}

std::string unquoted_text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string digest_of_json(const Json& value) { return sha256_hex(canonical_json(value)); }

}  // namespace assay
