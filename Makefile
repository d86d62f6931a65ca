# `go run ./cmd/tare run` and `make test` compile with Go's default flags and environment, so that the second
# reuses the cache of the first. Only binaries that must be static are compiled without cgo; if there is a C
# compiler, that compiles all packages a second time, unless CGO_ENABLED=0 is in the environment.

GO ?= go
GOTEST ?= $(GO) test

.PHONY: build schemas test tiers race deps lint fuzz aa simulate conformance truth causes hostile one-percent forecast kill faults soak rbd store cluster cluster-down test-cluster vm uml systemd bench clean

# The project's home, for links of the binary. README and docs/ name it too; a test compares them (internal/cli/docs_links_test.go).
HOME_URL = https://github.com/tarelab/tare

build: ## one static binary; GOFLAGS=-trimpath makes it the same on every machine
	CGO_ENABLED=0 $(GO) build -ldflags '-X github.com/tarelab/tare/internal/base/hint.Home=$(HOME_URL)' -o bin/tare ./cmd/tare

schemas: ## docs/schema and dist/schema: the page on every field and the JSON schemas, from the types and tables of the code
	mkdir -p dist/schema
	CGO_ENABLED=0 $(GO) test -vet=off -count=1 -ldflags '-X github.com/tarelab/tare/internal/base/hint.Home=$(HOME_URL)' -run 'TestSchemas$$' ./internal/cli -args -update -schemas $(CURDIR)/dist/schema

# The packages that take longest start first. Three run at the same time on two CPUs, because many tests wait for
# servers and budgets. Without DWARF the test binaries link faster.
test: deps ## installs what the tests need, then runs every unit, property, golden and conformance test
	$(GOTEST) -vet=off -p 3 -ldflags=-w -timeout 20m ./internal/measure/run ./cmd/tare ./internal/testing/environmenttest ./...
	$(GO) -C tools test ./tiers ./typecheck ./dashboard

TIERS ?=
tiers: ## the longer tiers of .ci/tiers, all, or those named (TIERS="kill vm")
	@TARETEST_REQUIRE=all CGO_ENABLED=0 $(GO) -C tools run ./tiers run $(TIERS)

race: deps ## the tests in tools/race.txt, with the race detector
	@sh tools/race.sh

deps: ## as root on Debian: the tools that the tests need; elsewhere it names the missing ones
	@sh tools/deps.sh

lint: ## formatting, vet, staticcheck, the layers, the size, the types on the other architecture, and the workflows
	@test -z "$$(gofmt -l cmd internal record)" || { gofmt -l cmd internal record; exit 1; }
	$(GO) vet ./...
	$(GO) vet -tags faults ./cmd/tare
	$(GO) tool -modfile=tools/go.mod staticcheck ./...
	@sh tools/layers.sh
	@sh tools/lines.sh -c
	@sh tools/race.sh -n
	$(GO) -C tools run ./typecheck .. arm64
	$(GO) tool -modfile=tools/go.mod actionlint .github/workflows/*.yml

FUZZTIME ?= 20s
fuzz: ## every fuzz target for FUZZTIME each
	@sh tools/fuzz.sh $(FUZZTIME)

aa: ## 40 A/A runs on this host: false positives of the twin, with interval; TARETEST_HOGS=1: beside bursts
	TARETEST_TIER=aa $(GO) test -count=1 -v -timeout 40m -run TestAA ./internal/measure/run

RUNS ?= 5000
simulate: ## the estimator on four kinds of hosts, RUNS runs of each cell: errors, widths, stopping, forecasts
	TARETEST_TIER=simulate TARETEST_SIMULATED_RUNS=$(RUNS) nice $(GO) test -count=1 -v -timeout 12h -run 'TestWindowsKeepTheirLevel|TestStoppingOnWidth|TestGatekeeping|TestLayersOnLoss|TestContinuing|TestForecast' ./internal/stat

CONFORMANCE ?= -count=1 -timeout 30m
conformance: deps ## all variants of environments, of which make test tries a part
	TARETEST_TIER=conformance $(GOTEST) $(CONFORMANCE) ./internal/testing/environmenttest ./internal/arms/engines

truth: ## planted losses of known size are measured correctly
	TARETEST_TIER=truth $(GO) test -count=1 -v -timeout 20m -run 'TestTruth|TestLimits' ./cmd/tare

causes: deps ## twelve causes planted one at a time, TARETEST_BUDGET (3m) each: what tare advise finds, which remedy it proves
	TARETEST_TIER=causes $(GO) test -count=1 -v -timeout 120m -run 'TestCauses$$' ./cmd/tare

hostile: ## quick beside bursts of other processes, half-widths of each load; and pairs of runs with and without busy processes
	TARETEST_TIER=hostile $(GO) test -count=1 -v -timeout 120m -run TestHostile ./cmd/tare

one-percent: ## in how many of TARETEST_RUNS runs a planted loss of 1 % is found in TARETEST_BUDGET; TARETEST_HOGS=1: beside bursts
	TARETEST_TIER=one-percent $(GO) test -count=1 -v -timeout 240m -run TestOnePercent ./cmd/tare

forecast: ## the least budgets that tare plan names suffice, TARETEST_RUNS runs of each of four presets
	TARETEST_TIER=forecast $(GO) test -count=1 -v -timeout 8h -run 'TestForecast$$' ./cmd/tare

kill: ## runs killed at TARETEST_KILLS random instants, in TARETEST_SEED's order, or stopped; nothing may be left, and no other process be touched
	TARETEST_TIER=kill $(GOTEST) -count=1 -v -timeout 240m -run 'TestKill$$|TestKillWhatInstalls|TestForeign|TestSignalsWithEngines|TestStopped' ./cmd/tare

faults: ## runs whose files cannot be written, synced, renamed, removed: TARETEST_FAULTS faults of each kind (all), TARETEST_SEED
	TARETEST_TIER=faults $(GOTEST) -tags faults -count=1 -v -timeout 480m -run 'TestFaults|TestParentsAreSynced' ./cmd/tare

soak: ## runs in a loop beside a long one, TARETEST_SOAK minutes: memory, descriptors, threads and leftovers stay flat
	TARETEST_TIER=soak $(GO) test -count=1 -v -timeout 24h -run TestSoak ./cmd/tare

rbd: ## images and a file system of a real Ceph cluster on loopback, also by a kernel's clients
	@sh tools/deps.sh ceph
	@sh tools/deps.sh uml
	TARETEST_TIER=rbd $(GOTEST) -count=1 -p 1 -v -timeout 30m -run TestRBD ./internal/outside/ceph/... ./internal/host/volume

store: ## a store of Ceph that is killed in the middle of a run and comes back or not: minutes of waits
	@sh tools/deps.sh ceph
	@sh tools/deps.sh uml
	TARETEST_TIER=store $(GO) test -count=1 -v -timeout 40m -run TestStoreKernel ./internal/host/volume

CLUSTER = $(GO) -C tools/cluster run .
cluster: ## a real Kubernetes node on this host: eval "$$(go -C tools/cluster run . env)"
	@sh tools/deps.sh cluster
	CGO_ENABLED=0 $(CLUSTER) up

cluster-down: ## removes it without a trace
	@[ ! -e "$${TARETEST_CLUSTER:-/var/lib/tare-cluster}" ] || CGO_ENABLED=0 $(CLUSTER) down

CLUSTER_TESTS ?= -run TestCluster ./internal/arms/pods ./cmd/tare
test-cluster: ## arms in pods, in the cluster of $$KUBECONFIG or in one of its own
	@sh tools/test-cluster.sh $(CLUSTER_TESTS)

vm: ## tests on an emulated machine whose kernel has control groups of version 2 only
	@sh tools/vm.sh

uml: ## storage tests on a user-mode Linux: its kernel has what NFS, Ceph and planted delays need
	@sh tools/uml.sh

SYSTEMD ?=
systemd: ## Debian 12 and 13 with systemd, on a user-mode Linux; SYSTEMD="vm trixie": Debian's own kernel, emulated
	@sh tools/systemd.sh $(SYSTEMD)

bench: ## the benchmarks behind figures in the documentation
	$(GO) test -run '^$$' -bench . -benchtime 1s ./...

.PHONY: release publish test-release arm64
VERSION ?=
release: ## VERSION=v0.1.0: archives, packages, images, bills of materials and checksums for amd64 and arm64, in dist/
	@HOME_URL='$(HOME_URL)' GO='$(GO)' sh tools/release/make.sh '$(VERSION)'

publish: ## what make release has written, as a release of the project's home; needs gh and its token
	gh release create '$(VERSION)' --verify-tag --notes-file dist/notes.md dist/*

test-release: deps ## a release is made twice and is the same; packages and images are installed, used and removed
	TARETEST_TIER=release $(GOTEST) -count=1 -v -timeout 10m -run 'TestContainer$$' ./cmd/tare
	$(GO) -C tools/release test ./...
	@HOME_URL='$(HOME_URL)' sh tools/release/test.sh

.PHONY: site test-site
site: ## dist/site: docs/ as a static site, read from a disk or any server (mkdocs.yml); needs PyPI once
	@GO='$(GO)' sh tools/site.sh

test-site: ## the site, opened in a browser 390 and 1280 pixels wide
	@sh tools/deps.sh site
	@GO='$(GO)' sh tools/site.sh test

arm64: ## the pure packages under qemu-user, and the package of Debian on an emulated machine of arm64
	@sh tools/arm64.sh

clean:
	rm -rf bin dist
