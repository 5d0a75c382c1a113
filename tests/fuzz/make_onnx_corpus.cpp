// Writes the seeds of the ONNX fuzz target into the directory named on the command line.
#include <fstream>
#include <iostream>
#include <string>

#include "onnx_model.hpp"

using onnx_model::add_graph;
using onnx_model::model;
using onnx_model::set;
using onnx_model::set_text;
using proto = onnx::TensorProto;

namespace {

void convolution(model& m) {
  m.input("x", {1, 3, 8, 8}).weight("w", {4, 3, 3, 3});
  auto& conv = m.op("Conv", {"x", "w"}, {"a"});
  set(conv, "pads", {1, 1, 1, 1});
  set(conv, "strides", {1, 2});
  m.op("Relu", {"a"}, {"b"});
  auto& pool = m.op("MaxPool", {"b"}, {"c"});
  set(pool, "kernel_shape", {2, 2});
  set(pool, "dilations", {1, 1});
  m.op("ConvTranspose", {"c", "w"}, {"d"});
  m.op("GlobalAveragePool", {"d"}, {"e"});
  set(m.op("Flatten", {"e"}, {"y"}), "axis", 1);
  m.output("y");
}

void shapes(model& m) {
  m.input("x", {2, 3, 4}).scalar("i", 0).integers("axis", {0}).integers("rest", {-1}).integers("two", {2});
  m.op("Shape", {"x"}, {"s"});
  m.op("Gather", {"s", "i"}, {"n"});
  m.op("Unsqueeze", {"n", "axis"}, {"n1"});
  m.op("Mul", {"n1", "two"}, {"n2"});
  set(m.op("Cast", {"n2"}, {"f"}), "to", proto::FLOAT);
  m.op("Floor", {"f"}, {"f2"});
  set(m.op("Cast", {"f2"}, {"n3"}), "to", proto::INT64);
  m.op("Slice", {"s", "axis", "two"}, {"front"});
  set(m.op("Concat", {"n3", "rest"}, {"shape"}), "axis", 0);
  m.op("Reshape", {"x", "shape"}, {"y"});
  m.op("Expand", {"x", "s"}, {"z"});
  m.op("Tile", {"front", "two"}, {"t"});
  m.op("ConstantOfShape", {"front"}, {"zeros"});
  m.op("NonZero", {"zeros"}, {"none"});
  m.op("Range", {"i", "n", "n"}, {"r"});
  m.output("y").output("z").output("t");
}

void branches(model& m) {
  m.input("x", {2, 6}).input("c", {}, proto::BOOL);
  auto& node = m.op("If", {"c"}, {"y"});
  auto then = add_graph(node, "then_branch");
  then.op("Exp", {"x"}, {"t"});
  then.output("t");
  auto otherwise = add_graph(node, "else_branch");
  otherwise.op("Neg", {"x"}, {"e"});
  otherwise.output("e");
  m.output("y");
}

void loops(model& m) {
  m.input("x", {4}).input("n", {}, proto::INT64).input("list", {7, 4});
  auto loop = add_graph(m.op("Loop", {"n", "", "x"}, {"y"}), "body");
  loop.input("i", {}, proto::INT64).input("go", {}, proto::BOOL).input("v", {4});
  loop.op("Identity", {"go"}, {"go2"});
  loop.op("Relu", {"v"}, {"v2"});
  loop.output("go2").output("v2");
  auto& node = m.op("Scan", {"y", "list"}, {"sum", "all"});
  auto scan = add_graph(node, "body");
  scan.input("s", {4}).input("e", {4});
  scan.op("Add", {"s", "e"}, {"s2"});
  scan.op("Exp", {"s2"}, {"out"});
  scan.output("s2").output("out");
  set(node, "num_scan_inputs", 1);
  m.output("sum").output("all");
}

void others(model& m) {
  m.input("x", {2, 4, 6, 6})
      .integers("k", {2})
      .integers("pads", {0, 0, 1, 1, 0, 0, 1, 1})
      .weight("w", {1, 12, 4})
      .weight("r", {1, 12, 3});
  set(m.op("DepthToSpace", {"x"}, {"d"}), "blocksize", 2);
  set(m.op("SpaceToDepth", {"d"}, {"e"}), "blocksize", 2);
  set(m.op("Split", {"e"}, {"p", "q"}), "axis", 1);
  m.op("Pad", {"p", "pads"}, {"padded"});
  m.op("TopK", {"padded", "k"}, {"best", "where"});
  set(m.op("ReduceMean", {"q"}, {"mean"}), "axes", {2, 3});
  set(m.op("Transpose", {"q"}, {"t"}), "perm", {2, 3, 0, 1});
  set_text(m.op("Einsum", {"q", "q"}, {"sum"}), "equation", "abij,abjk->abik");
  m.op("Dropout", {"sum"}, {"drop", "mask"});
  m.input("seq", {5, 2, 4});
  set(m.op("LSTM", {"seq", "w", "r"}, {"", "h"}), "hidden_size", 3);
  m.op("Mystery", {"h"}, {"unknown"}).set_domain("com.acme");
  m.declare("unknown", {3}).output("unknown").output("best").output("where").output("mean").output("t").output("drop");
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return std::cerr << "usage: make_onnx_corpus DIRECTORY\n", 2;
  const auto write = [&](const char* name, void (*fill)(model&), std::int64_t opset) {
    model m(opset);
    fill(m);
    std::ofstream(std::string(arguments[1]) + "/" + name, std::ios::binary) << m.file();
  };
  write("convolution.onnx", convolution, 13);
  write("shapes.onnx", shapes, 13);
  write("branches.onnx", branches, 16);
  write("loops.onnx", loops, 11);
  write("others.onnx", others, 13);
  write("newer.onnx", shapes, 21);
}
