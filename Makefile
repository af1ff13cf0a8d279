# Everything that a change has to pass. `make` alone shows what there is.
SHELL       := /bin/bash
GO          ?= go
VERSION     ?= $(shell git describe --tags --always --dirty 2>/dev/null)
LDFLAGS     := -s -w -X github.com/skeincrawl/skein/cmd.version=$(VERSION)
TOOLS       := $(CURDIR)/bin/tools
LINT        := $(TOOLS)/golangci-lint-v2.15.0
GOFUMPT     := $(TOOLS)/gofumpt-v0.12.0
BENCH       ?= .
BENCH_PKGS  ?= ./engine ./scheduler ./jobs ./crawl ./feeds ./downloader ./internal/weburl

.DEFAULT_GOAL := help
.PHONY: help build demo test check format lint race bench conformance clean

help: ## shows this list
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  make \1\t/' | expand -t 16

build: ## builds bin/crawl, one static binary
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags "$(LDFLAGS)" -o bin/crawl ./cmd/crawl

demo: build ## builds, serves a small site on this machine, crawls it and shows the items
	@dir=$$(mktemp -d) && mkfifo "$$dir/address" || exit 1; \
	bin/crawl demo --listen 127.0.0.1:0 >"$$dir/address" & site=$$!; \
	trap 'kill $$site 2>/dev/null; wait $$site; rm -r "$$dir"' EXIT; \
	read -r address <"$$dir/address" && bin/crawl quotes -a "site=$$address" -s STATS_DUMP=False -o -

test: ## runs the tests; needs only Go
	$(GO) test ./...

check: format lint race ## everything before a commit: format, vet, lint, tests with the race detector

format: $(GOFUMPT) ## fails if gofumpt would change a file, or go mod tidy would change go.mod
	@unformatted="$$($(GOFUMPT) -l .)"; if [ -n "$$unformatted" ]; then echo "run gofumpt -w on:"; echo "$$unformatted"; exit 1; fi
	$(GO) mod tidy -diff

lint: $(LINT) ## runs go vet and golangci-lint
	$(GO) vet ./...
	$(LINT) run ./...

race: ## runs the tests with the race detector, in random order; needs a C compiler
	CGO_ENABLED=1 $(GO) test -race -shuffle=on ./...

bench: ## runs the benchmarks of each layer; BENCH=regexp picks some
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem $(BENCH_PKGS)

# The packages that run test vectors.
VECTORS = $(shell grep -rl 'conformance\.Run' --include='*_test.go' . | xargs -n1 dirname | sort -u)

conformance: ## runs the test vectors in the folder DIR and shows what passes
	@[ -n "$(DIR)" ] && [ -d "$(DIR)" ] || { echo "make conformance DIR=FOLDER: want the folder of the test vectors"; exit 2; }
	@report=$$(mktemp) || exit 1; trap 'rm -f "$$report"' EXIT; \
	out=$$(CONFORMANCE_DIR="$$(cd "$(DIR)" && pwd)" CONFORMANCE_REPORT="$$report" $(GO) test -count=1 -run Conformance $(VECTORS) 2>&1); status=$$?; \
	$(GO) run ./internal/conformance/table "$$report" conformance-failed.txt "$(DIR)" || status=1; \
	[ $$status = 0 ] || { echo "$$out"; exit 1; }

clean: ## removes what was built, but for the tools
	rm -f bin/crawl coverage.out

# Each tool carries its version in its name, so that a new pin builds it anew.
# The linter takes minutes to build, once.
$(LINT):
	$(call tool,github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0,golangci-lint)

$(GOFUMPT):
	$(call tool,mvdan.cc/gofumpt@v0.12.0,gofumpt)

define tool
	@mkdir -p $(TOOLS)
	GOBIN=$(TOOLS) $(GO) install $(1)
	@mv $(TOOLS)/$(2) $@
endef
