SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules

GO ?= go
LINTER := bin/tools/golangci-lint
CONTROLLER_GEN := bin/tools/controller-gen

# The Kubernetes versions that the testbed builds.
KUBERNETES ?= v1.35.4,v1.36.3

# What bin/refit says of itself.
VERSION ?= $(shell git describe --tags --dirty 2>/dev/null || echo development)
COMMIT ?= $(shell git rev-parse HEAD 2>/dev/null)

# What images are called; `refit install` looks for them there unless it is told otherwise.
IMAGE_REPOSITORY ?= ghcr.io/refit-dev

# Which tests each end-to-end target runs, and for how long at most.
E2E_PACKAGES ?= ./test/e2e/...
E2E_CI_RUN ?= ^(TestCI|TestCheckLeavesNothing)$$
E2E_TESTBED_RUN ?= ^(TestVariants|TestSingle|TestManyNodes|TestSideBySide|TestCopy)
E2E_FULL_RUN ?= ^TestVariants
E2E_LEFTOVERS_RUN ?= ^TestLeftovers
E2E_FAULTS_RUN ?= ^(TestFaults|TestLateKubelet|TestDisk)
E2E_CHECK_RUN ?= ^(TestDefects|TestCheckLeavesNothing)
E2E_AGENT_RUN ?= ^TestAgentCI
E2E_AGENT_FULL_RUN ?= ^TestAgent
E2E_UPGRADE_RUN ?= ^TestUpgradeCI
E2E_UPGRADE_FULL_RUN ?= ^TestUpgrade

# What `make ci` runs, in this order.
CI := verify-tidy verify-generate lint test-bands test test-simulations test-apiserver e2e-ci e2e-agent e2e-upgrade

##@ Development

.PHONY: help
help: ## Show this help
	@awk 'BEGIN { FS = ":.*## " } \
		/^##@ / { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z0-9-]+:.*## / { printf "  %-24s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## Compile everything
	$(GO) build ./...

.PHONY: refit
refit: ## Build bin/refit, and bin/kubectl-refit as a link to it
	$(GO) build -trimpath -ldflags "-s -w -X main.version=$(VERSION) -X main.commit=$(COMMIT)" -o bin/refit ./cmd/refit
	ln -sf refit bin/kubectl-refit

# Without C, so that it runs on any host of its platform.
.PHONY: refit-agent
refit-agent: ## Build bin/refit-agent
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags "-s -w -X main.version=$(VERSION)" -o bin/refit-agent ./cmd/refit-agent

# The programs that there are, each as an archive for `ctr images import` and `docker load`; no Docker is needed.
IMAGES := $(notdir $(wildcard cmd/refit-agent cmd/refit-controller))

.PHONY: images
images: ## Make container images of the agent and the controller, as bin/images/*.tar
	for program in $(IMAGES); do \
		CGO_ENABLED=0 $(GO) build -trimpath -ldflags "-s -w -X main.version=$(VERSION)" -o bin/$$program ./cmd/$$program; \
	done
	$(GO) run ./tools/images -repository $(IMAGE_REPOSITORY) -tag $(VERSION) -to bin/images $(foreach program,$(IMAGES),$(program)=bin/$(program))

.PHONY: test
test: ## Run the unit tests with the race detector
	$(GO) test -race ./...

.PHONY: lint
lint: $(LINTER) ## Run the linters, which hold the bands of docs/architecture.md
	$(LINTER) run ./...

.PHONY: test-bands
test-bands: $(LINTER) ## Prove that the linter refuses what the bands forbid
	REFIT_LINTER=$(abspath $(LINTER)) $(GO) test -tags bands -count=1 ./test/bands/

# Without the race detector, which a single decider gives nothing to find.
.PHONY: test-simulations
test-simulations: export REFIT_SIMULATIONS = $(SIMULATIONS)
test-simulations: ## Simulate 100,000 upgrades with faults and hold the planner to its invariants; REFIT_SEED=n replays one
	$(GO) test -count=1 -v -timeout 30m -run '^TestSimulatedUpgrades$$' ./internal/upgrade/plan/

# The first run of a version builds it, which takes minutes. One package at a time, so that figures are of a machine at rest; within one more tests side by side
# than there are processors, since most of them wait.
.PHONY: test-apiserver
test-apiserver: ## Run the tests that need a real API server; REFIT_APISERVERS=v1.34.4,... chooses its versions
	$(GO) test -tags apiserver -count=1 -v -p 1 -parallel 6 -timeout 60m ./test/apiserver/...

.PHONY: test-apiserver-all
test-apiserver-all: export REFIT_APISERVERS := v1.34.4,v1.35.4,v1.36.3,v1.37.1
test-apiserver-all: test-apiserver ## The same on every version that the testbed builds

# $(1) is where the files go: the repository, or a copy to compare with. The API is one package; a second one needs a second call.
define generate
	$(CONTROLLER_GEN) object crd paths=./api/v1alpha1 output:object:dir=$(1)/api/v1alpha1 output:crd:dir=$(1)/config/crd
	$(GO) run ./tools/apidocs -crds $(1)/config/crd -package api/v1alpha1 -to $(1)/docs/reference/api.md
endef

.PHONY: generate
generate: $(CONTROLLER_GEN) ## Write deep copies, CRDs and the API reference anew, from api/
	$(call generate,.)

.PHONY: verify-generate
verify-generate: $(CONTROLLER_GEN) ## Check that what is generated from api/ is up to date
	rm -rf bin/_generated && mkdir -p bin/_generated/api/v1alpha1 bin/_generated/config/crd bin/_generated/docs/reference
	$(call generate,bin/_generated)
	diff -u api/v1alpha1/zz_generated.deepcopy.go bin/_generated/api/v1alpha1/zz_generated.deepcopy.go
	diff -ru config/crd bin/_generated/config/crd
	diff -u docs/reference/api.md bin/_generated/docs/reference/api.md

.PHONY: test-scale
test-scale: export REFIT_SCALE := 1
test-scale: ## Read and plan 5,000 nodes and 30,000 pods on a real API server, and print what it costs
	$(GO) test -tags apiserver -count=1 -v -timeout 30m ./test/apiserver/scale/

.PHONY: e2e-upgrade-5000
e2e-upgrade-5000: export REFIT_NODES := 5000
e2e-upgrade-5000: ## Upgrade 5,000 made-up nodes with the real controller on a real API server, and print what it costs
	$(GO) test -tags apiserver -count=1 -v -timeout 2h -run '^TestThousands$$' ./test/apiserver/thousands/

.PHONY: kube-facts
kube-facts: ## Write the facts about each Kubernetes release anew, from its source
	$(GO) run ./tools/kubefacts

.PHONY: verify-kube-facts
verify-kube-facts: ## Check that the facts about Kubernetes are what its source says
	$(GO) run ./tools/kubefacts -verify

.PHONY: fmt
fmt: $(LINTER) ## Format the code
	$(LINTER) fmt ./...

.PHONY: tidy
tidy: ## Tidy go.mod and go.sum
	$(GO) mod tidy

.PHONY: verify-tidy
verify-tidy: ## Check that go.mod and go.sum are tidy, and that go.tools.mod is complete
	$(GO) mod tidy -diff
	$(GO) list -modfile=go.tools.mod -mod=readonly tool >/dev/null

.PHONY: vulncheck
vulncheck: ## Look for known vulnerabilities (needs the Go vulnerability database)
	$(GO) tool -modfile=go.tools.mod govulncheck ./...

.PHONY: clean
clean: ## Remove what was built into bin
	rm -rf bin

##@ Testbed (as root, on Linux)

.PHONY: testbed
testbed: ## Build bin/testbed
	$(GO) build -o bin/testbed ./test/testbed/cmd/testbed

.PHONY: testbed-build
testbed-build: testbed ## Build Kubernetes, its images and packages for KUBERNETES into the cache
	bin/testbed build --kubernetes $(KUBERNETES)

##@ End to end (as root, on Linux)

# A pattern that matches no test would pass without having tested anything.
define e2e
	@$(GO) test -tags e2e -list '$(1)' $(E2E_PACKAGES) | grep '^Test' || { echo "no test matches $(1)" >&2; exit 1; }
	$(GO) test -tags e2e -count=1 -v -p 1 -timeout $(2) -run '$(1)' $(E2E_PACKAGES)
endef

.PHONY: e2e-ci
e2e-ci: ## Run what every change must pass on a real cluster
	$(call e2e,$(E2E_CI_RUN),50m)

.PHONY: e2e-testbed
e2e-testbed: ## Make every kind of cluster, upgrade it by the book and print the baseline's figures
	$(call e2e,$(E2E_TESTBED_RUN),90m)

.PHONY: e2e-testbed-full
e2e-testbed-full: export REFIT_E2E_FULL := 1
e2e-testbed-full: ## The variants again, and on to the newest version
	$(call e2e,$(E2E_FULL_RUN),120m)

.PHONY: e2e-testbed-leftovers
e2e-testbed-leftovers: ## Check that the testbed leaves nothing behind on the machine
	$(call e2e,$(E2E_LEFTOVERS_RUN),60m)

.PHONY: e2e-testbed-faults
e2e-testbed-faults: ## Break nodes and disks in every way and see the cluster come back
	$(call e2e,$(E2E_FAULTS_RUN),60m)

.PHONY: e2e-check
e2e-check: ## Put defects into a cluster and see that `refit check` finds each of them, and nothing else
	$(call e2e,$(E2E_CHECK_RUN),40m)

.PHONY: e2e-agent
e2e-agent: ## Upgrade a control plane node and a worker while their agents are killed at every point
	$(call e2e,$(E2E_AGENT_RUN),30m)

# The crash matrix alone takes hours. It goes on where it was: REFIT_AGENT_RESULTS names the file with its results (bin/agent-crashes.jsonl).
.PHONY: e2e-agent-full
e2e-agent-full: ## All upgrades, crashes, power cuts, faults, times and the idle cost of agents; E2E_AGENT_FULL_RUN chooses among them
	$(call e2e,$(E2E_AGENT_FULL_RUN),12h)

.PHONY: e2e-upgrade
e2e-upgrade: ## Install Refit, upgrade a small cluster while the controllers are killed, and uninstall it
	$(call e2e,$(E2E_UPGRADE_RUN),30m)

.PHONY: e2e-upgrade-full
e2e-upgrade-full: ## Upgrade clusters of every kind, kill and freeze the controllers, faults, people, times; E2E_UPGRADE_FULL_RUN chooses among them
	$(call e2e,$(E2E_UPGRADE_FULL_RUN),6h)

##@ CI

.PHONY: ci
ci: export SIMULATIONS := 25000
ci: ## Run everything that a change must pass
	@for target in $(CI); do \
		echo "==> $$target"; begun=$$SECONDS; \
		$(MAKE) --no-print-directory $$target || { echo "==> $$target: failed after $$((SECONDS - begun)) s" >&2; exit 1; }; \
		echo "==> $$target: $$((SECONDS - begun)) s"; \
	done; \
	echo "==> ci: $$SECONDS s"

# Built once, and again when go.tools.mod moves: with `go tool` each run would first look at a thousand packages.
$(LINTER): go.tools.mod go.tools.sum
	$(GO) build -modfile=go.tools.mod -o $@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint

$(CONTROLLER_GEN): go.tools.mod go.tools.sum
	$(GO) build -modfile=go.tools.mod -o $@ sigs.k8s.io/controller-tools/cmd/controller-gen
