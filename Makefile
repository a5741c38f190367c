# `make test` is all there is to run: format, lints and every test, on a fresh
# machine too. `make bench` measures; see bench/README.md.

PYTHON = python/.venv/bin/python

.PHONY: test simd test-aarch64 python tools format lint features docs bench golden

test: tools format lint
	cargo test --workspace --locked
	$(MAKE) simd
	RUSTDOCFLAGS="-D warnings" cargo doc -p abduce --no-deps --locked --quiet
	$(MAKE) python

# The kernels, laws and golden numbers without the best instructions of the processor.
simd:
	for level in baseline avx2; do \
		ABDUCE_SIMD=$$level cargo test --workspace --locked --quiet --lib -- kernel:: laws:: || exit 1; \
		ABDUCE_SIMD=$$level cargo test --workspace --locked --quiet --test main -- golden:: results_are_bit_identical || exit 1; \
	done

# The library's kernels and laws for 64-bit ARM, in an emulator. Needs the Debian packages qemu-user
# and gcc-aarch64-linux-gnu.
test-aarch64: export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER = aarch64-linux-gnu-gcc
test-aarch64: export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER = qemu-aarch64 -L /usr/aarch64-linux-gnu
test-aarch64:
	rustup target add aarch64-unknown-linux-gnu
	cargo build --workspace --exclude abduce-python --locked --target aarch64-unknown-linux-gnu
	cargo test -p abduce --locked --target aarch64-unknown-linux-gnu --lib -- kernel:: laws::

# The wheel, built and tested in an environment of its own.
python:
	python/environment
	python/.venv/bin/ruff check python
	python/.venv/bin/ruff format --check python
	rm -rf target/wheels
	python/.venv/bin/maturin build --profile dev --locked --quiet --interpreter $(PYTHON) --out target/wheels
	$(PYTHON) -m pip install --quiet --disable-pip-version-check --force-reinstall --no-deps target/wheels/abduce-*.whl
	$(PYTHON) -m pytest
	$(PYTHON) -m mypy
	$(PYTHON) -m mypy.stubtest abduce._core

# The formatter and the linter are parts of a Rust installation that may be
# left out of it.
tools:
	@cargo fmt --version >/dev/null 2>&1 || rustup component add rustfmt
	@cargo clippy --version >/dev/null 2>&1 || rustup component add clippy

format: tools
	cargo fmt --all --check

lint: tools
	cargo clippy --workspace --all-targets --locked -- -D warnings

# The library without its features, and with each alone.
features:
	cargo clippy -p abduce --no-default-features --locked -- -D warnings
	for feature in parquet plot text; do \
		cargo clippy -p abduce --no-default-features --features $$feature --locked -- -D warnings || exit 1; \
	done

bench:
	bench/run

golden:
	golden/make
