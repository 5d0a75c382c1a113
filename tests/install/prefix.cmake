# Installs a build and moves the tree away: what uses it afterwards shows that it can be moved.
# cmake -DBUILD=<build directory> -DPREFIX=<directory> -P prefix.cmake
cmake_minimum_required(VERSION 3.22)
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)
file(REMOVE_RECURSE ${PREFIX} ${PREFIX}.first)
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${PREFIX}.first --component development)
file(RENAME ${PREFIX}.first ${PREFIX})
