# `make test` is all there is to run: format, lints and every test, on a fresh
# machine too. `make bench` measures; see bench/README.md.

.PHONY: test tools format lint docs bench golden

test: tools format lint
	cargo test --workspace --locked
	RUSTDOCFLAGS="-D warnings" cargo doc -p abduce --no-deps --locked --quiet

# The formatter and the linter are parts of a Rust installation that may be
# left out of it.
tools:
	@cargo fmt --version >/dev/null 2>&1 || rustup component add rustfmt
	@cargo clippy --version >/dev/null 2>&1 || rustup component add clippy

format: tools
	cargo fmt --all --check

lint: tools
	cargo clippy --workspace --all-targets --locked -- -D warnings

bench:
	bench/run

golden:
	golden/make
