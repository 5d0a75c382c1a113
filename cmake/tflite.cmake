# The third parties of two opt-in headers: FlatBuffers (headers alone) for formats/tflite, nlohmann-json for formats/json.
find_path(MEMSCHED_FLATBUFFERS_INCLUDE flatbuffers/flatbuffers.h REQUIRED)
add_library(memsched_tflite INTERFACE)
target_link_libraries(memsched_tflite INTERFACE memsched::memsched)
target_include_directories(memsched_tflite SYSTEM INTERFACE ${MEMSCHED_FLATBUFFERS_INCLUDE})

find_package(nlohmann_json 3.11 REQUIRED)
add_library(memsched_json INTERFACE)
target_link_libraries(memsched_json INTERFACE memsched::memsched nlohmann_json::nlohmann_json)
