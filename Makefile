.DEFAULT_GOAL := help
SHELL := /bin/sh
.PHONY: help run dev build assets gen check test bench soak audit

# What go.mod says is what is built. The commit is not stamped in: git refuses
# to tell it when root builds in the clone of someone else.
export GOFLAGS := -mod=readonly -buildvcs=false
# Nothing here needs a C compiler, and without one the binary runs anywhere.
export CGO_ENABLED := 0
# Go and npm keep their caches below it, and not every service or container says
# where it is.
export HOME := $(or $(HOME),$(shell eval echo "~$$(id -un)"))
export ADDR
export DATA

help: ## show this list
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' $(firstword $(MAKEFILE_LIST)) | while IFS="$$(printf '\t')" read -r t d; do printf '  make %-8s %s\n' "$$t" "$$d"; done

run: ## install what is missing, build, and serve the demo (ADDR=host:port, DATA=folder)
	@scripts/tools run
	@scripts/assets
	@go build -o bin/capstore ./cmd/capstore
	@exec scripts/run

dev: ## like run, and build and start again when a source changes
	@scripts/tools run
	@scripts/assets
	@exec scripts/dev

build: assets ## build bin/capstore
	@go build -o bin/capstore ./cmd/capstore

assets: ## install the npm packages and build static/dist
	@scripts/assets

gen: ## generate the templates' and queries' Go code
	@go tool -modfile=tools.mod templ generate
	@go tool -modfile=tools.mod sqlc generate

check: assets ## formatting, vet, staticcheck, generated code, migrations
	@scripts/check

test: ## every test, those in a browser included
	@scripts/tools test
	@scripts/assets
	@go test -timeout 20m ./...

bench: assets ## every benchmark
	@go test -run '^$$' -bench . -benchmem ./...

soak: ## 100,000 epochs of churn, for minutes: memory stays where it began
	@CAPSTORE_SOAK=100000 go test -timeout 60m -count 1 -run Soak ./internal/...

audit: assets ## known vulnerabilities in Go modules and npm packages
	@go run golang.org/x/vuln/cmd/govulncheck@v1.1.4 ./...
	@npm audit
