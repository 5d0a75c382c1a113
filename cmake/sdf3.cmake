# pugixml, the third party of formats/sdf3.
find_package(pugixml REQUIRED)
add_library(memsched_sdf3 INTERFACE)
target_link_libraries(memsched_sdf3 INTERFACE memsched::memsched pugixml::pugixml)
