// Types and shapes of tensors, for people to read.
#pragma once

#include <memsched/formats/model.hpp>
#include <vector>

#include "../load.hpp"

namespace cli {

/// The form of each tensor of the graph that was loaded from a path: as its model file has it, or as the notes "type" and
/// "shape" of its JSON do, where the one is a text and the other a list of whole numbers. Empty where there are none, and of
/// a JSON file of more than 64 MiB.
std::vector<memsched::tensor_form> forms_of(const loaded&, const std::string& path, const reading&);

}  // namespace cli
