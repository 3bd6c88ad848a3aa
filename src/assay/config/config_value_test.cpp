#include "assay/config/config_value.h"

#include <array>
#include <cstdlib>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <tuple>

#include "assay/base/json.h"
#include "assay/base/result.h"
#include "assay/config/config_key.h"

namespace assay {
namespace {

using testing::HasSubstr;

const ConfigKey& key_of(std::string_view name) { return *get_config_key(name).value(); }

struct TypedValue {
  const char* key;
  const char* text;
  Json value;
};

TEST(ConfigValue, HasTheTypeOfItsKey) {
  for (const auto& [key, text, value] : std::to_array<TypedValue>({
           {"threads", "4", 4},
           {"min_effect", "0.5", 0.5},
           {"cache_limit", "500MB", "500MB"},
           {"mirrors", "http://a/=/b,http://c/=/d", {"http://a/=/b", "http://c/=/d"}},
           {"home", "/srv/assay", "/srv/assay"},
           {"home", "~/assay", "~/assay"},
           {"python", "python3", "python3"},
           {"device_name", "lab 3", "lab 3"},
       })) {
    const auto read = config_value_from_text(key_of(key), text);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(*read, value) << key;
    EXPECT_EQ(text_from_config_value(*read), text) << key;
  }
}

TEST(ConfigValue, IsRefusedWithTheFormItMustHave) {
  for (const auto& [key, text, told] :
       std::to_array<std::tuple<const char*, const char*, const char*>>({
           {"threads", "0", "an integer from 1 to 1024"},
           {"threads", "two", "an integer from 1 to 1024"},
           {"threads", "1.5", "an integer"},
           {"min_effect", "100", "a number from 0.1 to 99"},
           {"cache_limit", "much", "a size such as 500MB"},
           {"format", "htm", "did you mean 'html'?"},
           {"device_name", "", "a text"},
           {"mirrors", "", "a list"},
       })) {
    const auto read = config_value_from_text(key_of(key), text);
    ASSERT_FALSE(read) << key << "=" << text;
    EXPECT_THAT(read.error().message, HasSubstr(told));
  }
}

TEST(ConfigValue, MakesARelativePathWholeWhereItIsTyped) {
  const auto here = std::filesystem::current_path();
  EXPECT_EQ(config_value_from_text(key_of("home"), "x/../y").value(), (here / "y").string());
  EXPECT_FALSE(check_config_value(key_of("home"), "y")) << "a file has no current folder";
  EXPECT_EQ(config_value_from_text(key_of("meter"), "./meter.sh,-p,./3").value(),
            (Json{(here / "meter.sh").string(), "-p", "./3"}));
  EXPECT_EQ(config_value_from_text(key_of("meter"), "meter").value(), Json::array({"meter"}));
  EXPECT_EQ(config_value_from_text(key_of("mirrors"), "http://a/=srv,http://b/=/srv/v=1").value(),
            (Json{"http://a/=" + (here / "srv").string(), "http://b/=/srv/v=1"}));
}

TEST(ConfigValue, PutsTheUsersHomeInPlaceInPathsOnly) {
  const std::string user = std::getenv("HOME");
  EXPECT_EQ(expanded_config_value(key_of("home"), "~/assay"), user + "/assay");
  EXPECT_EQ(expanded_config_value(key_of("mirrors"), Json{"http://a/=~/m", "http://b/=/m"}),
            (Json{"http://a/=" + user + "/m", "http://b/=/m"}));
  EXPECT_EQ(expanded_config_value(key_of("device_name"), "~/assay"), "~/assay");
  EXPECT_EQ(expanded_config_value(key_of("meter"), Json{"~/meter", "~/3"}),
            (Json{user + "/meter", "~/3"}));
}

TEST(ConfigKeys, HaveNamesThatAreFoundOrSuggested) {
  for (const auto& key : config_keys()) {
    EXPECT_EQ(get_config_key(key.name).value(), &key);
  }
  EXPECT_THAT(get_config_key("thread").error().message, HasSubstr("did you mean 'threads'?"));
}

}  // namespace
}  // namespace assay
