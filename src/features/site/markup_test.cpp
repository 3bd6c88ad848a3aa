#include "features/site/markup.h"

#include <gtest/gtest.h>
#include <string>

namespace assay::site {
namespace {

constexpr const char* kHostile = "<script>alert('x')</script>\"&";

TEST(Markup, EscapesTextAndAttributes) {
  EXPECT_EQ(text(kHostile).html(), "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&quot;&amp;");
  EXPECT_EQ(element("p", {{"title", "\"><b>"}}, "a").html(),
            "<p title=\"&quot;&gt;&lt;b&gt;\">a</p>");
}

TEST(Markup, ReplacesWhatIsNoText) {
  EXPECT_EQ(text(std::string("a\0b", 3)).html(), "a·b");
  EXPECT_EQ(text("\xff").html(), "\uFFFD");
}

TEST(Markup, BreaksNamesAfterTheirSeparators) {
  EXPECT_EQ(breakable("a/b_c").html(), "a/<wbr>b_<wbr>c");
  EXPECT_EQ(breakable("--<x>--").html(), "--<wbr>&lt;x&gt;--");
  EXPECT_EQ(breakable("").html(), "");
}

TEST(Markup, LeavesNoLinkAScheme) {
  EXPECT_EQ(link("javascript:alert(1)", "x").html(), "<a href=\"#\">x</a>");
  EXPECT_EQ(link("runs/a.html?x=a:b", "x").html(), "<a href=\"runs/a.html?x=a:b\">x</a>");
}

TEST(Markup, LetsNoDataEndItsElement) {
  EXPECT_EQ(
      json_element("d", "\"</script><script>\"").html(),
      "<script type=\"application/json\" id=\"d\">\"\\u003c/script>\\u003cscript>\"</script>");
}

TEST(Markup, EncodesPartsOfAddressesAndBack) {
  const std::string name = "../a b?#é";
  EXPECT_EQ(percent_encoded(name), "..%2Fa%20b%3F%23%C3%A9");
  EXPECT_EQ(percent_decoded(percent_encoded(name)), name);
  EXPECT_EQ(percent_decoded("100%"), "100%");
  EXPECT_EQ(percent_decoded("%zz%4"), "%zz%4");
}

}  // namespace
}  // namespace assay::site
