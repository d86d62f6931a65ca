# Two commands do the set-up: `go run ./cmd/tare run` and `make test`.

export CGO_ENABLED ?= 0
GO ?= go

.PHONY: build test deps lint fuzz aa truth kill image rbd cluster cluster-down test-cluster vm bench clean

build: ## one static binary
	$(GO) build -trimpath -o bin/tare ./cmd/tare

test: deps ## what the tests need, then every unit, property, golden and conformance test
	CGO_ENABLED=1 $(GO) test -race -timeout 20m ./...

deps: ## as root on Debian: the tools that the tests need; elsewhere it says what is missing
	@sh tools/deps.sh

lint: ## formatting, vet, staticcheck, and the layers
	@test -z "$$(gofmt -l cmd internal record)" || { gofmt -l cmd internal record; exit 1; }
	$(GO) vet ./...
	$(GO) tool -modfile=tools/go.mod staticcheck ./...
	@sh tools/layers.sh

FUZZTIME ?= 20s
fuzz: ## every fuzz target for FUZZTIME each
	@sh tools/fuzz.sh $(FUZZTIME)

aa: ## 40 A/A runs on this host: false positives of the twin, with interval
	TARE_TIER=aa $(GO) test -count=1 -v -timeout 40m -run TestAA ./internal/run

truth: ## known losses are measured as what they are
	TARE_TIER=truth $(GO) test -count=1 -v -timeout 20m -run TestTruth ./internal/run

kill: ## a run killed at 20 random instants
	TARE_TIER=kill $(GO) test -count=1 -v -timeout 20m -run 'TestKill' ./cmd/tare

image: ## an image of Debian packages, made twice, from the mirror
	TARE_TIER=image $(GO) test -count=1 -v -timeout 20m -run TestPackages ./internal/image

rbd: ## images of a real Ceph cluster on loopback, which it installs and brings up
	@sh tools/deps.sh ceph
	TARE_TIER=rbd $(GO) test -count=1 -p 1 -v -timeout 10m -run 'TestRBD|TestCephImages' ./internal/ceph/... ./internal/volume ./cmd/tare

CLUSTER = $(GO) -C tools/cluster run .
cluster: ## a real Kubernetes node on this host: eval "$$(go -C tools/cluster run . env)"
	@sh tools/deps.sh cluster
	CGO_ENABLED=0 $(CLUSTER) up

cluster-down: ## removes it without a trace
	CGO_ENABLED=0 $(CLUSTER) down

test-cluster: ## arms in pods, in the cluster of $$KUBECONFIG or in one of its own
	@sh tools/test-cluster.sh

vm: ## tests on an emulated machine whose kernel has control groups of version 2 only
	@sh tools/vm.sh

bench: ## figures of issue and documentation
	$(GO) test -run '^$$' -bench . -benchtime 1s ./...

clean:
	rm -rf bin
