#include "assay/wire/agent_messages.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "assay/base/digest.h"
#include "assay/base/result.h"

namespace assay::wire {
namespace {

using testing::HasSubstr;

Tree tree_with_paths(const std::vector<std::string>& paths) {
  Tree tree;
  for (const auto& path : paths) {
    tree.files.push_back({.path = path, .sha256 = sha256_hex(path)});
  }
  tree.digest = digest_of_tree(tree.files);
  return tree;
}

TEST(Tree, HasTheDigestOfItsCanonicalJson) {
  const std::vector<TreeFile> files = {{.path = "b", .sha256 = "2", .is_executable = true},
                                       {.path = "a", .sha256 = "1"}};
  EXPECT_EQ(digest_of_tree(files),
            sha256_hex(R"([{"is_executable":false,"path":"a","sha256":"1"},)"
                       R"({"is_executable":true,"path":"b","sha256":"2"}])"));
}

TEST(Tree, HasOneDigestInWhateverOrder) {
  auto files = tree_with_paths({"lib/a.so", "lib/b.so", "run"}).files;
  const auto digest = digest_of_tree(files);
  std::ranges::reverse(files);
  EXPECT_EQ(digest_of_tree(files), digest);
  files[0].is_executable = true;
  EXPECT_NE(digest_of_tree(files), digest);
}

TEST(Tree, TakesRelativePaths) {
  EXPECT_TRUE(check_tree(tree_with_paths({"run", "lib/liba.so.1", "lib/x/..data", "a b"})));
}

TEST(Tree, RefusesPathsThatLeadElsewhere) {
  for (const auto& path :
       std::vector<std::string>{"", "/etc/passwd", "..", "../x", "a/../x", "a/..", ".", "./a",
                                "a//b", "a/", std::string("a\0b", 3)}) {
    const auto checked = check_tree(tree_with_paths({"run", path}));
    ASSERT_FALSE(checked) << path;
    EXPECT_EQ(checked.error().code, ErrorCode::kInvalidArgument) << path;
  }
}

TEST(Tree, RefusesPathsThatDoNotFitTogether) {
  for (const auto& paths : std::vector<std::vector<std::string>>{
           {}, {"a", "b", "a"}, {"a/b", "a"}, {"a", "a-b", "a/b/c"}}) {
    EXPECT_EQ(check_tree(tree_with_paths(paths)).error().code, ErrorCode::kInvalidArgument);
  }
}

TEST(Tree, RefusesTheDigestOfAnotherTree) {
  auto tree = tree_with_paths({"run"});
  tree.files[0].is_executable = true;
  const auto checked = check_tree(tree);
  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error().message, HasSubstr(tree.digest));
}

}  // namespace
}  // namespace assay::wire
