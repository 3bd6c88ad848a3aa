#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "assay/base/fs.h"
#include "assay/base/json.h"

namespace assay::fai_pep {

/// Files of FAI-PEP's dialect in a folder of their own: two models, and a sequence of both.
class SpecificationFiles {
 public:
  SpecificationFiles() {
    write("small_tflite.json", tflite());
    write("pair_caffe2.json", caffe2());
    write("both.json", {{"meta", {{"command_args", "--extra 1"}, {"size", 7}}},
                        {"benchmarks", {"small_tflite.json", "./pair_caffe2.json"}}});
  }

  [[nodiscard]] std::filesystem::path path(const std::string& name) const {
    return folder_.path() / name;
  }

  void write(const std::string& name, const Json& document) const {
    static_cast<void>(write_file_atomically(path(name), document.dump()));
  }

  static Json tflite() {
    return {{"model",
             {{"name", "small"},
              {"format", "tflite"},
              {"cooldown", 30},
              {"files",
               {{"graph",
                 {{"filename", "small.tflite"},
                  {"location", "https://models.example/small.tflite"},
                  {"md5", "900150983cd24fb0d6963f7d28e17f72"}}}}}}},
            {"tests",
             {{{"identifier", "small-{ID}"},
               {"metric", "delay"},
               {"iter", 50},
               {"warmup", 1},
               {"platform_args", {{"taskset", "3"}}},
               {"commands",
                {"{program} --graph={files.graph} --warmup_runs={warmup} --num_runs={iter} "
                 "--input_layer_shape=\"1,8,8,3\" --num_threads=2"}}},
              {{"identifier", "small-power"},
               {"metric", "power"},
               {"method", "monsoon"},
               {"iter", -1},
               {"warmup", 1},
               {"commands", {"{program} --graph={files.graph}"}}}}}};
  }

  static Json caffe2() {
    return {
        {"model",
         {{"name", "pair"},
          {"format", "caffe2"},
          {"repeat", 2},
          {"total", 6},
          {"share", "{total}/{repeat}"},
          {"files",
           {{"predict", {{"filename", "p.pb"}, {"location", "//pair/p.pb"}, {"md5", "00"}}},
            {"init", {{"filename", "i.pb"}, {"location", "i.pb"}, {"md5", "11"}}}}},
          {"preprocess", {{"commands", {"mkdir -p {HOSTDIR}/in"}}}},
          {"postprocess", {{"commands", {"sum --dir {HOSTDIR} --limit {repeat}"}}}}}},
        {"tests",
         {{{"identifier", "{ID}"},
           {"metric", "accuracy"},
           {"iter", 1},
           {"warmup", 0},
           {"input_files", {{"x", {{"filename", "x.pb"}, {"location", "{HOSTDIR}/x_{INDEX}.pb"}}}}},
           {"preprocess",
            {{"commands", {"awk '(NR>{INDEX}*{share}) {print > \"{HOSTDIR}/in/{INDEX}\"}' all"}}}},
           {"arguments", "--net {files.predict} --input_file {input_files.x} --iter {iter}"}},
          {{"identifier", "shapes-{ID}"},
           {"metric", "delay"},
           {"iter", 5},
           {"warmup", 2},
           {"OMP_NUM_THREADS", 4},
           {"inputs", {{"data", {{"shapes", {{1, 3}, {2, 3}}}, {"type", "float"}}}}}}}}};
  }

 private:
  TemporaryFolder folder_ = TemporaryFolder::make("fai-pep").value();
};

}  // namespace assay::fai_pep
