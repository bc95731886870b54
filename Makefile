.DEFAULT_GOAL := help
FUZZTIME ?= 30s
SOAK ?= 10m
PROOFS ?= $(CURDIR)/proofs.out
# The race detector watches our code. It leaves out SQLite's translated C and the hashing of
# passwords, which it would slow down fourfold. A module whose code uses sync.Map or other
# generic types of sync cannot be left out: the linker may take its copy of their methods for
# the whole program, and the race detector would no longer see what they order.
UNRACED = -gcflags=modernc.org/...=-race=false -gcflags=golang.org/x/crypto/...=-race=false
# With a larger heap compiling takes a quarter less processor time. The tests themselves run
# with Go's default.
COMPILE = GOGC=400
RUN = -exec 'env -u GOGC'
LINT = github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.14.0
# All packages but the proofs. The longest begin first, so that both cores are busy at the end.
PACKAGES = ./storage/postgres ./webhooks ./examples/server ./internal/storetest ./storage/sqlite ./console ./oauthserver $$(go list ./... | grep -v /proofs/ | sort -r)
# The packages in which goroutines meet.
RACED = ./storage/... ./internal/racetest ./webhooks/... ./oauthserver/... ./guard/... ./ratelimit/... ./events/... ./analytics/... ./clock/... .

.PHONY: help
help: ## Say what there is
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# A program with the race detector waits a second before it ends, for races of its last
# moment. Each of some fifty packages would wait for it.
RACE = $(COMPILE) GORACE=atexit_sleep_ms=50 go test $(RUN) -race $(UNRACED) -shuffle=on -timeout 25m

.PHONY: test
test: ## All tests with the race detector, in about ten minutes; needs a C compiler, services by PARTNERKIT_TEST_POSTGRES and PARTNERKIT_TEST_REDIS
	$(RACE) $(PACKAGES)

.PHONY: race
race: ## The same for the packages in which goroutines meet
	$(RACE) $(RACED)

.PHONY: e2e
e2e: ## Against other people's software and in Chromium, in modules of their own; needs what .ci/run installs
	cd internal/e2e && $(COMPILE) go test $(RUN) -count=1 -timeout 25m ./... # what they start is not in the cache
	cd examples/mcp && $(COMPILE) go test $(RUN) -count=1 -timeout 25m ./...

.PHONY: openapi
openapi: ## Lint the API description; needs npx
	REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true npx --yes @redocly/cli@2.73.0 lint \
	  --config internal/e2e/openapi/redocly.yaml examples/server/openapi.yaml

.PHONY: ci
ci: ## What CI does, services included (Debian, root)
	.ci/run

.PHONY: vet
vet: ## go vet, and whether the code for other operating systems compiles; make lint vets the other modules
	$(COMPILE) go vet ./...
	GOOS=windows go build ./internal/filelock
	GOOS=darwin go build ./internal/filelock
	cd examples/recipes && $(COMPILE) go vet ./... # which make prove runs

.PHONY: lint
lint: ## golangci-lint, with all that go vet checks
	go run $(LINT) run ./...
	cd examples/mcp && go run $(LINT) run ./...
	cd examples/recipes && go run $(LINT) run ./...
	cd internal/e2e && go run $(LINT) run ./...

.PHONY: fuzz
fuzz: ## Every fuzz target for FUZZTIME each
	go run ./internal/proof/fuzz -time $(FUZZTIME)

# The parts of make prove. Each is meant to take at most fifteen minutes on two quiet cores.
PARTS = races stores webhooks packages steady nodes crash failover hostile powerloss mutants fresh others fuzz bench race lint
PART ?= $(PARTS)
PROVE = PARTNERKIT_PROVE=1 go test -count=1 -timeout 60m

.PHONY: prove
prove: ## The long forms of all proofs and the linters, in about an hour on two cores, or one part (PART=races), and one table; non-zero when one fails
	@rm -f $(PROOFS) $(PROOFS).parts.out; export PARTNERKIT_PROOFS=$(PROOFS); \
	for part in $(PART); do \
	  began=$$(date +%s); end=passed; \
	  $(MAKE) --no-print-directory prove-$$part || end=FAILED failed=1; \
	  printf '%-10s %3d min %02d s  %s\n' $$part $$((($$(date +%s) - began) / 60)) $$((($$(date +%s) - began) % 60)) $$end >>$(PROOFS).parts.out; \
	done; \
	echo "$$(date -u +%F), commit $$(git rev-parse --short HEAD), $$(nproc) cores, $$(go env GOVERSION)"; \
	cat $(PROOFS).parts.out; \
	if [ -e $(PROOFS) ]; then go run ./internal/proof/table <$(PROOFS) || failed=1; fi; [ -z "$$failed" ]

.PHONY: $(PARTS:%=prove-%)
prove-races:
	$(PROVE) ./internal/racetest
prove-stores:
	$(PROVE) ./storage/...
prove-webhooks:
	$(PROVE) ./webhooks
prove-packages:
	$(PROVE) $$(go list ./... | grep -v -e /proofs/ -e /storage -e /racetest -e '/webhooks$$')
prove-nodes:
	$(PROVE) -p 1 ./internal/proofs/nodes ./internal/proofs/plans ./internal/proofs/growth
prove-crash:
	$(PROVE) -skip '^TestFailover' ./internal/proofs/crash
prove-failover:
	$(PROVE) -run '^TestFailover' ./internal/proofs/crash ./ratelimit/redislimit
prove-hostile prove-powerloss prove-mutants prove-fresh prove-steady: prove-%:
	$(PROVE) ./internal/proofs/$*
prove-others:
	cd internal/e2e && $(PROVE) -short -p 1 ./linear ./migrations
	cd internal/e2e && $(PROVE) -run TestGeneratedClient ./openapi
	cd examples/recipes && $(PROVE) ./...
prove-fuzz:
	$(MAKE) fuzz FUZZTIME=5s
prove-bench: bench-check
prove-race:
	PARTNERKIT_PROOFS= $(MAKE) test
prove-lint: lint

.PHONY: soak
soak: ## A mixed load for SOAK (10m): on one server with SQLite, then on three with PostgreSQL, one killed every minute
	PARTNERKIT_PROVE=1 PARTNERKIT_SOAK=$(SOAK) go test -count=1 -v -p 1 -timeout 24h -run '^TestSoak' ./internal/proofs/hostile ./internal/proofs/crash

.PHONY: vulncheck
vulncheck: ## Known vulnerabilities that our code reaches; needs the Go vulnerability database, or a copy in VULNDB
	go run golang.org/x/vuln/cmd/govulncheck@v1.8.0 $(if $(VULNDB),-db $(VULNDB)) ./...

.PHONY: licenses
licenses: ## Write docs/licenses.md; non-zero for a license that is not compatible
	go run ./internal/release licenses >licenses.out && mv licenses.out docs/licenses.md

PLATFORMS ?= linux/amd64 linux/arm64 darwin/arm64

.PHONY: release
release: ## Build VERSION (v0.1.0) of the reference server for PLATFORMS into bin/release, with source, bills of materials and checksums
	go run ./internal/release build "$(VERSION)" bin/release $(PLATFORMS)

SANDBOXES ?= linux darwin windows
.PHONY: sandbox
sandbox: ## Build the reference server as one static file for each of SANDBOXES into bin
	for os in $(SANDBOXES); do \
	  CGO_ENABLED=0 GOFLAGS= GOOS=$$os GOARCH=amd64 go build -trimpath -buildvcs=false -ldflags '-s -w' -o bin/sandbox-$$os-amd64$$([ $$os = windows ] && echo .exe) ./examples/server || exit 1; \
	done

.PHONY: mutants
mutants: ## Break the rules one at a time: the test of each must fail
	cd internal/proofs/mutants && PARTNERKIT_PROVE=1 go test -count=1 -timeout 60m # here it prints as it goes

.PHONY: bench
bench: ## Benchmarks with their limits, compared with other libraries; writes docs/benchmarks.md; non-zero when a limit is missed
	PARTNERKIT_BARS=1 go test -run '^$$' -bench . -benchmem $$(grep -rl --include='*_test.go' --exclude-dir=benchmarks --exclude-dir=e2e '^func Benchmark' . | xargs -n 1 dirname | sort -u) || failed=1; \
	  (cd internal/benchmarks && go run . -docs ../../docs) && [ -z "$$failed" ]

.PHONY: bench-check
bench-check: ## Every benchmark of the packages once, no bars
	go test -run '^$$' -bench . -benchtime 1x ./...

.PHONY: bench-others
bench-others: ## Every comparison with other libraries once, no bars
	cd internal/benchmarks && go mod tidy -diff && go vet ./... && go run . -short
