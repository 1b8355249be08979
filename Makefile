# Thin front end of the CMake presets: see CMakePresets.json for what they mean.
PREFIX ?= /usr/local/sampan
deps = scripts/install_deps.sh build
preset = cmake --preset $(1) && cmake --build --preset $(1) $(if $(2),--target $(2))

# The presets product and release compile the same sources with the same flags: with ccache, only once.
ifneq ($(shell command -v ccache),)
export CMAKE_C_COMPILER_LAUNCHER ?= ccache
export CMAKE_CXX_COMPILER_LAUNCHER ?= ccache
endif

help:
	@echo "make demo            build and run the examples"
	@echo "make test            build and run all tests"
	@echo "make bench           build and run the benchmarks"
	@echo "make format          lay out all sources (check-format: only check)"
	@echo "make tidy            clang-tidy over the libraries"
	@echo "make coverage        line coverage of src/core and src/acl; at least 95 %"
	@echo "make install         install below PREFIX (now $(PREFIX))"
	@echo "make package         make a Debian package below build/product"
	@echo "make clean           remove build/"

demo:
	$(deps)
	$(call preset,product,examples)
	scripts/demo.sh build/product

test:
	$(deps) bench test lint
	$(call preset,release)
	ctest --preset release

bench:
	$(deps) bench
	cmake --preset product -DSAMPAN_BUILD_BENCH=ON && cmake --build --preset product --target run_bench

format:
	$(deps) lint
	scripts/check_format.sh --fix

check-format:
	$(deps) lint
	scripts/check_format.sh

tidy:
	$(deps) lint
	scripts/check_tidy.sh

coverage:
	$(deps) test lint
	$(call preset,coverage)
	ctest --preset coverage
	gcovr --root . --gcov-ignore-parse-errors --filter src/core/ --filter src/acl/ --fail-under-line 95 --print-summary build/coverage/src

install:
	$(deps)
	$(call preset,product,sampan_installed)
	cmake --install build/product --prefix $(PREFIX)

package:
	$(deps)
	$(call preset,product,sampan_installed)
	cd build/product && cpack -G DEB

clean:
	rm -rf build

.PHONY: help demo test bench format check-format tidy coverage install package clean
