# Builds and packages the library: `conan create packaging/conan`.
import os

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load
import re


class Memsched(ConanFile):
    name = "memsched"
    description = "Memory-aware operator scheduling"
    license = "MIT"
    topics = ("scheduling", "memory", "compilers", "header-only")
    package_type = "static-library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"compiled": [True, False]}
    default_options = {"compiled": True}

    def _root(self):
        return os.path.join(self.recipe_folder, "..", "..")

    def set_version(self):
        lists = load(self, os.path.join(self._root(), "CMakeLists.txt"))
        self.version = re.search(r"project\(memsched VERSION ([0-9.]+)", lists).group(1)

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*"):
            copy(self, pattern, self._root(), self.export_sources_folder)

    def validate(self):
        check_min_cppstd(self, 20)

    def layout(self):
        cmake_layout(self)

    def package_id(self):
        if not self.info.options.compiled:
            self.info.clear()  # headers are the same for all

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.variables["MEMSCHED_BUILD_TESTS"] = False
        toolchain.variables["MEMSCHED_BUILD_EXAMPLES"] = False
        toolchain.variables["MEMSCHED_COMPILED"] = bool(self.options.compiled)
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        CMake(self).install()

    def package_info(self):
        headers = self.cpp_info.components["memsched"]
        headers.set_property("cmake_target_name", "memsched::memsched")
        headers.set_property("pkg_config_name", "memsched")
        headers.libdirs = []
        if self.settings.os in ("Linux", "FreeBSD"):
            headers.system_libs = ["pthread"]
        if self.options.compiled:
            compiled = self.cpp_info.components["compiled"]
            compiled.set_property("cmake_target_name", "memsched::compiled")
            compiled.set_property("pkg_config_name", "memsched-compiled")
            compiled.libs = ["memsched"]
            compiled.defines = ["MEMSCHED_SEPARATE_COMPILATION"]
            compiled.requires = ["memsched"]
