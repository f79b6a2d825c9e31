SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules

GO ?= go
LINTER := bin/tools/golangci-lint
CONTROLLER_GEN := bin/tools/controller-gen
OAPI_CODEGEN := bin/tools/oapi-codegen
VALE := bin/tools/vale
GORELEASER := bin/tools/goreleaser
KREW := bin/tools/krew
KREW_VALIDATOR := bin/tools/validate-krew-manifest

# The Kubernetes versions that the testbed builds.
KUBERNETES ?= v1.35.4,v1.36.3

# The version and commit that the binaries report.
VERSION ?= $(shell git describe --tags --dirty 2>/dev/null || echo development)
COMMIT ?= $(shell git rev-parse HEAD 2>/dev/null)

# The repository of the images; `refit install` uses the same default.
IMAGE_REPOSITORY ?= ghcr.io/refit-dev

# The tests of each end-to-end target.
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
E2E_BACKUP_RUN ?= ^(TestBackupDrill|TestBackupRestoreSingle)$$
E2E_BACKUP_FULL_RUN ?= ^TestBackup
E2E_HOSTS_RUN ?= ^TestHostsCI$$
E2E_HOSTS_FULL_RUN ?= ^(TestHosts|TestVirtualIP|TestExternalEtcd|TestKubespray|TestRpm)
E2E_ADOPTION_RUN ?= ^TestAdoption
E2E_COMPONENTS_RUN ?= ^TestComponents$$
E2E_COMPONENTS_FULL_RUN ?= ^TestComponents
E2E_SERVE_RUN ?= ^(TestTheJudgeSeesLies|TestServeOutage)$$
E2E_SERVE_FULL_RUN ?= ^(TestTheJudgeSeesLies|TestServe.*)$$

# The targets of `make ci`, in order.
CI := verify-tidy verify-generate language lint site verify-arm64 test-layers test test-simulations test-apiserver e2e-ci e2e-agent e2e-upgrade e2e-hosts

##@ Development

.PHONY: help
help: ## Show this help
	@awk 'BEGIN { FS = ":.*## " } \
		/^##@ / { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z0-9-]+:.*## / { printf "  %-24s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## Compile all packages
	$(GO) build ./...

# TAGS=web embeds the pages that `make web` has built. Without the tag, Go needs no Node.
TAGS ?=

.PHONY: refit
refit: ## Build bin/refit, with its links as a plugin of kubectl and for the completion of the plugin
	$(GO) build -trimpath -tags "$(TAGS)" -ldflags "-s -w -X main.version=$(VERSION) -X main.commit=$(COMMIT)" -o bin/refit ./cmd/refit
	ln -sf refit bin/kubectl-refit
	ln -sf refit bin/kubectl_complete-refit

# Without cgo, so that the binary runs on every host of its platform.
.PHONY: refit-agent
refit-agent: ## Build bin/refit-agent
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags "-s -w -X main.version=$(VERSION)" -o bin/refit-agent ./cmd/refit-agent

# Each image is an archive for `ctr images import` and skopeo; Docker is not required. It has all architectures of ARCHS.
IMAGES := $(notdir $(wildcard cmd/refit-agent cmd/refit-components cmd/refit-controller))
ARCHS ?= amd64 arm64
IMAGES_DIR ?= bin/images
comma := ,
empty :=
binaries = $(subst $(empty) $(empty),$(comma),$(foreach arch,$(ARCHS),bin/$(arch)/$(1)))

.PHONY: images
images: ## Build the images of the agent, the controller and refit-components into IMAGES_DIR
	for arch in $(ARCHS); do \
		for name in $(IMAGES); do \
			CGO_ENABLED=0 GOOS=linux GOARCH=$$arch $(GO) build -trimpath -ldflags "-s -w -X main.version=$(VERSION)" -o bin/$$arch/$$name ./cmd/$$name; \
		done; \
	done
	$(GO) run ./tools/images -repository $(IMAGE_REPOSITORY) -tag $(VERSION) -to $(IMAGES_DIR) $(foreach name,$(IMAGES),$(name)=$(call binaries,$(name)))

# The flags of `refit install` beside the key, which has no default: hosts refuse everything without one.
INSTALL_FLAGS ?=

.PHONY: install-yaml
install-yaml: refit ## Write bin/install.yaml for kubectl apply, with the public key RELEASE_KEY and the flags INSTALL_FLAGS
	test -n "$(RELEASE_KEY)" || { echo 'set RELEASE_KEY to the file of a public key' >&2; exit 2; }
	bin/refit install --render --release-key "$(RELEASE_KEY)" --image-repository $(IMAGE_REPOSITORY) $(INSTALL_FLAGS) >bin/install.yaml.partial
	mv bin/install.yaml.partial bin/install.yaml

# Nothing here runs on arm64: only the compiler and vet see that code. The same flags, so that both use what one has compiled.
.PHONY: verify-arm64
verify-arm64: ## Build all binaries and images for arm64, and vet the code and its tests
	CGO_ENABLED=0 GOARCH=arm64 $(GO) build -trimpath -o bin/arm64/ ./cmd/...
	CGO_ENABLED=0 GOARCH=arm64 $(GO) vet -trimpath ./api/... ./cmd/... ./internal/...
	$(MAKE) --no-print-directory images ARCHS=arm64

.PHONY: test
test: ## Run the unit tests with the race detector
	$(GO) test -race ./...

.PHONY: lint
lint: lint-prose lint-go ## Run all linters

.PHONY: lint-go
lint-go: $(LINTER) ## Run golangci-lint, which enforces the layers of docs/architecture.md
	$(LINTER) run ./...

# The test plants each phrase of the list: a rule that reports nothing fails here.
.PHONY: lint-prose
lint-prose: $(VALE) ## Run Vale over docs, CLI output and CLI texts
	REFIT_VALE=$(abspath $(VALE)) $(GO) test -tags prose -count=1 ./tools/language/
	$(VALE) --no-global --glob='!*_test.go' $(wildcard *.md docs examples) cmd internal

.PHONY: language
language: ## Count the phrases of tools/language/phrases.yaml and fail above their limits
	$(GO) run ./tools/language

.PHONY: test-layers
test-layers: $(LINTER) ## Test that golangci-lint rejects imports that the layers forbid
	REFIT_LINTER=$(abspath $(LINTER)) $(GO) test -tags layers -count=1 ./test/layers/

# A session with a bus and a keyring of its own in a temporary directory; the user's own keyring is not read.
.PHONY: test-keyring
test-keyring: ## Test with a real keyring; needs dbus-run-session and gnome-keyring-daemon
	dir=$$(mktemp -d); trap 'rm -rf "$$dir"' EXIT; \
	HOME=$$dir XDG_DATA_HOME=$$dir XDG_RUNTIME_DIR=$$dir GOCACHE=$$($(GO) env GOCACHE) GOMODCACHE=$$($(GO) env GOMODCACHE) dbus-run-session -- sh -c \
		'printf test | gnome-keyring-daemon --unlock --components=secrets >/dev/null && $(GO) test -tags keyring -count=1 -v -run Real ./internal/cli/keyring/'

# Without the race detector: the planner is a single goroutine.
.PHONY: test-simulations
test-simulations: export REFIT_SIMULATIONS = $(SIMULATIONS)
test-simulations: ## Simulate 100,000 upgrades with faults and check the planner's invariants; REFIT_SEED=n replays one
	$(GO) test -count=1 -v -timeout 30m -run '^TestSimulatedUpgrades$$' ./internal/upgrade/plan/

# The first run of a version builds it, which takes minutes. Most tests wait, so two packages and six tests of each run in parallel.
.PHONY: test-apiserver
test-apiserver: ## Run the tests that need an API server; REFIT_APISERVERS=v1.34.4,... selects its versions
	$(GO) test -tags apiserver -count=1 -v -p 2 -parallel 6 -timeout 60m ./test/apiserver/...

.PHONY: test-apiserver-all
test-apiserver-all: export REFIT_APISERVERS := v1.34.4,v1.35.4,v1.36.3,v1.37.1
test-apiserver-all: test-apiserver ## Run the API server tests on every version that the testbed builds

# $(1) is the directory to write to: the repository, or a copy to compare with. A second API package needs a second call.
define generate
	$(CONTROLLER_GEN) object crd paths=./api/v1alpha1 output:object:dir=$(1)/api/v1alpha1 output:crd:dir=$(1)/config/crd
	$(GO) run ./tools/apidocs -crds $(1)/config/crd -package api/v1alpha1 -to $(1)/docs/reference/api.md
	$(GO) run ./tools/clidocs -to $(1)/docs/reference/cli.md
	$(GO) run ./tools/language -vale $(1)/.vale/styles/Refit/Words.yml
	$(GO) run ./tools/reasons -to $(1)/docs/troubleshooting.md
	$(GO) run ./tools/chart -to $(1)/charts/refit
	$(OAPI_CODEGEN) -config internal/server/api/oapi-codegen.yaml -o $(1)/internal/server/api/zz_generated.openapi.go api/openapi.yaml
	$(OAPI_CODEGEN) -config api/serve/v1alpha1/client/oapi-codegen.yaml -o $(1)/api/serve/v1alpha1/client/zz_generated.openapi.go api/openapi.yaml
endef

.PHONY: generate
generate: $(CONTROLLER_GEN) $(OAPI_CODEGEN) ## Generate deep copies, CRDs, the routes and a client of the HTTP API, the Vale rule and the generated parts of docs
	$(call generate,.)
	$(GO) run ./tools/docs
	$(GO) test -count=1 ./test/compatibility -update

.PHONY: docs
docs: ## Copy golden files and failure reasons into docs
	$(GO) run ./tools/reasons
	$(GO) run ./tools/docs
	$(GO) test -count=1 ./test/compatibility -update

# The path at which the site is served.
SITE_BASE ?= /

# Only the targets site, web and test-web need Node and the npm registry.
.PHONY: site
site: export SITE_BASE := $(SITE_BASE)
site: website/node_modules/.package-lock.json ## Build the documentation site into bin/site and check its links
	npm --prefix website test
	npm --prefix website run build
	$(GO) run ./tools/sitecheck -site bin/site -base $(SITE_BASE)

.PHONY: web
web: web/node_modules/.package-lock.json ## Build the pages of refit serve into web/dist; `make web refit TAGS=web` embeds them
	npm --prefix web run build

# All tests run in the Chromium of the system, or in the one that CHROMIUM names.
.PHONY: test-web
test-web: web ## Check and test the pages of refit serve in Chromium
	npm --prefix web run types -- --check
	npm --prefix web run lint
	npm --prefix web test
	npm --prefix web run test:pages
	$(GO) test -tags web -count=1 ./web/

.PHONY: verify-generate
verify-generate: $(CONTROLLER_GEN) $(OAPI_CODEGEN) ## Check that the generated files are up to date
	rm -rf bin/_generated
	mkdir -p bin/_generated/api/v1alpha1 bin/_generated/config/crd bin/_generated/docs/reference bin/_generated/.vale/styles/Refit bin/_generated/internal/server/api bin/_generated/api/serve/v1alpha1/client
	$(call generate,bin/_generated)
	diff -u api/v1alpha1/zz_generated.deepcopy.go bin/_generated/api/v1alpha1/zz_generated.deepcopy.go
	diff -ru config/crd bin/_generated/config/crd
	diff -u docs/reference/api.md bin/_generated/docs/reference/api.md
	diff -u docs/reference/cli.md bin/_generated/docs/reference/cli.md
	diff -u internal/server/api/zz_generated.openapi.go bin/_generated/internal/server/api/zz_generated.openapi.go
	diff -u api/serve/v1alpha1/client/zz_generated.openapi.go bin/_generated/api/serve/v1alpha1/client/zz_generated.openapi.go
	diff -u docs/troubleshooting.md bin/_generated/docs/troubleshooting.md
	diff -u charts/refit/README.md bin/_generated/charts/refit/README.md
	$(GO) run ./tools/docs -verify
	diff -u .vale/styles/Refit/Words.yml bin/_generated/.vale/styles/Refit/Words.yml

.PHONY: test-scale
test-scale: export REFIT_SCALE := 1
test-scale: ## Read and plan 5,000 nodes and 30,000 pods on an API server and print the overhead
	$(GO) test -tags apiserver -count=1 -v -timeout 30m ./test/apiserver/scale/

# The first run downloads the charts from the Go module proxy.
.PHONY: e2e-components-full
e2e-components-full: export REFIT_COMPONENTS_FULL := 1
e2e-components-full: ## Kill each write of upgrades and rollbacks of Helm releases, and judge changes of CRDs, over all charts, on API servers; then upgrade components of clusters, also those of one of two clusters that are peered with Liqo
	$(GO) test -tags apiserver -count=1 -v -parallel 6 -timeout 2h \
		./test/apiserver/components/ ./test/apiserver/crd/ ./test/apiserver/helm/ ./test/apiserver/object/
	$(call e2e,$(E2E_COMPONENTS_FULL_RUN),90m)

.PHONY: e2e-upgrade-5000
e2e-upgrade-5000: export REFIT_NODES := 5000
e2e-upgrade-5000: ## Upgrade 5,000 simulated nodes with the controller on an API server and print the overhead
	$(GO) test -tags apiserver -count=1 -v -timeout 2h -run '^TestThousands$$' ./test/apiserver/thousands/

.PHONY: kube-facts
kube-facts: ## Generate the facts about each Kubernetes release from its source
	$(GO) run ./tools/kubefacts

.PHONY: verify-kube-facts
verify-kube-facts: ## Check that the facts about Kubernetes match its source
	$(GO) run ./tools/kubefacts -verify

.PHONY: fmt
fmt: $(LINTER) ## Format the code
	$(LINTER) fmt ./...

.PHONY: tidy
tidy: ## Tidy go.mod and go.sum
	$(GO) mod tidy

.PHONY: verify-tidy
verify-tidy: ## Check that go.mod and go.sum are tidy and that the modules of the build tools are complete
	$(GO) mod tidy -diff
	$(GO) list -modfile=go.tools.mod -mod=readonly tool >/dev/null
	$(GO) list -modfile=go.tools.openapi.mod -mod=readonly tool >/dev/null
	$(GO) list -modfile=go.tools.vale.mod -mod=readonly tool >/dev/null

.PHONY: vulncheck
vulncheck: ## Check for known vulnerabilities; needs the Go vulnerability database
	$(GO) tool -modfile=go.tools.mod govulncheck ./...

.PHONY: clean
clean: ## Remove bin
	rm -rf bin

##@ Release (on Linux)

# krew needs a semantic version, also for a commit without a tag. The length of the commit is fixed: git's default depends on the clone.
RELEASE_VERSION = $(shell git describe --tags --dirty --abbrev=12 2>/dev/null || echo v0.0.0-g$$(git describe --always --dirty --abbrev=12))
# The platforms of the CLI. The agent, the controller and refit-components have those of Linux.
RELEASE_PLATFORMS ?= linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64
RELEASE_FLAGS ?= --snapshot
commas = $(subst $(empty) $(empty),$(comma),$(strip $(1)))
targets = $(call commas,$(subst /,_,$(1)))
RELEASE_CHECK = $(GO) run ./tools/releasecheck -version $(RELEASE_VERSION) -platforms $(call commas,$(RELEASE_PLATFORMS)) \
	-krew $(KREW) -validate-krew-manifest $(KREW_VALIDATOR)

# goreleaser builds everything but the images, whose archives it needs for checksums.txt. Neither records the state of git, which
# differs between a clone and a worktree.
.PHONY: release-artifacts
release-artifacts: export VERSION = $(RELEASE_VERSION)
release-artifacts: export COMMIT := $(COMMIT)
release-artifacts: export SOURCE_DATE_EPOCH = $(shell git show --no-patch --format=%ct HEAD)
release-artifacts: export SOURCE_DATE = $(shell TZ=UTC git show --no-patch --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%cd HEAD)
release-artifacts: web
	rm -rf bin/release bin/release-images
	GOFLAGS="$${GOFLAGS:-} -buildvcs=false" $(MAKE) --no-print-directory images IMAGES_DIR=bin/release-images VERSION=$(RELEASE_VERSION) \
		ARCHS="$(patsubst linux/%,%,$(filter linux/%,$(RELEASE_PLATFORMS)))"
	sed -e '/darwin/s|targets: .*|targets: [$(call targets,$(RELEASE_PLATFORMS))]|' -e t \
		-e 's|targets: .*|targets: [$(call targets,$(filter linux/%,$(RELEASE_PLATFORMS)))]|' .goreleaser.yaml >bin/goreleaser.yaml
	$(GORELEASER) release --clean --timeout 2h --config bin/goreleaser.yaml $(RELEASE_FLAGS)
	for name in $(IMAGES); do mv bin/release-images/$$name.tar bin/release/$${name}_$(RELEASE_VERSION:v%=%)_image.tar; done
	rmdir bin/release-images

.PHONY: release
release: $(GORELEASER) $(KREW) $(KREW_VALIDATOR) ## Build and check the artifacts of the tag at HEAD into bin/release
	GORELEASER_CURRENT_TAG='$(RELEASE_VERSION)' $(MAKE) --no-print-directory release-artifacts RELEASE_FLAGS=--skip=publish RELEASE_VERSION='$(RELEASE_VERSION)'
	$(RELEASE_CHECK) bin/release

.PHONY: release-snapshot
release-snapshot: RELEASE_PLATFORMS = linux/$(shell $(GO) env GOHOSTARCH)
release-snapshot: $(GORELEASER) $(KREW) $(KREW_VALIDATOR) ## Build and check the artifacts of a release for this platform, and print their digests
	@start=$$SECONDS; \
	$(MAKE) --no-print-directory release-artifacts RELEASE_PLATFORMS=$(RELEASE_PLATFORMS); \
	$(RELEASE_CHECK) bin/release; \
	echo "figure release_snapshot $$((SECONDS - start)) s"

# The second build has another path and an empty cache: neither may be in the artifacts.
RELEASE_CACHE ?= $(abspath bin/release-cache)

.PHONY: release-full
release-full: $(GORELEASER) $(KREW) $(KREW_VALIDATOR) ## Build the artifacts of a release for all platforms twice, check them, and compare their digests
	test -z "$$(git status --porcelain)" || { echo 'commit your changes: a release is built from a commit' >&2; exit 2; }
	rm -rf bin/release-first bin/release-second bin/release-cache
	@start=$$SECONDS; \
	$(MAKE) --no-print-directory release-artifacts RELEASE_PLATFORMS="$(RELEASE_PLATFORMS)"; \
	mv bin/release bin/release-first; \
	echo "figure release_full_first $$((SECONDS - start)) s"; start=$$SECONDS; \
	git clone --quiet --no-local . bin/release-second; \
	GOCACHE=$(RELEASE_CACHE) $(MAKE) --no-print-directory -C bin/release-second release-artifacts GORELEASER=$(abspath $(GORELEASER)) RELEASE_PLATFORMS="$(RELEASE_PLATFORMS)"; \
	echo "figure release_full_second $$((SECONDS - start)) s"; start=$$SECONDS; \
	$(RELEASE_CHECK) bin/release-first bin/release-second/bin/release; \
	echo "figure release_full_check $$((SECONDS - start)) s"
	rm -rf bin/release-cache

##@ Testbed (as root, on Linux)

.PHONY: testbed
testbed: ## Build bin/testbed
	$(GO) build -o bin/testbed ./test/testbed/cmd/testbed

.PHONY: testbed-build
testbed-build: testbed ## Build Kubernetes, its images and packages for KUBERNETES into the cache
	bin/testbed build --kubernetes $(KUBERNETES)

# The cluster of `make dev`: its name, its version and the version to upgrade to.
DEV ?= dev
DEV_FROM ?= v1.35.4
DEV_TO ?= v1.36.3
# Key, mirror and ClusterRelease of the cluster. A ClusterRelease is immutable, so they are kept until dev-down.
DEV_DIR := bin/dev/$(DEV)
DEV_NODE := $(DEV)-cp-1
DEV_RELEASE := $(DEV_DIR)/$(DEV_TO)

# A new version on each run: the same tag would leave the running agent and controller in place.
.PHONY: dev
dev: ARCHS := $(shell $(GO) env GOARCH)
dev: VERSION := v0.0.0-dev.$(shell date -u +%Y%m%d%H%M%S)
dev: refit images testbed ## Create a cluster of one node and install this build; run it again after a change
	bin/testbed kubeconfig --name $(DEV) --path >/dev/null 2>&1 || bin/testbed up --name $(DEV) --control-planes 1 --workers 0 --kubernetes $(DEV_FROM)
	bin/testbed load-images --name $(DEV) bin/images/*.tar
	$(MAKE) --no-print-directory $(DEV_RELEASE).yaml
	bin/testbed cp $(DEV_RELEASE) $(DEV_NODE):/srv/refit
	bin/testbed cp $(DEV_DIR)/settings $(DEV_NODE):/etc/refit
	export KUBECONFIG=$$(bin/testbed kubeconfig --name $(DEV) --path); \
	bin/refit install --release-key $(DEV_DIR)/keys/refit-release.pem --source /srv/refit; \
	bin/testbed exec $(DEV_NODE) -- kubectl --kubeconfig=/etc/kubernetes/admin.conf apply --server-side --filename=- <$(DEV_RELEASE).yaml; \
	echo "export KUBECONFIG=$$KUBECONFIG"; \
	echo "bin/refit upgrade --to $(DEV_TO)"

.PHONY: dev-down
dev-down: testbed ## Remove the cluster of `make dev`
	! bin/testbed kubeconfig --name $(DEV) --path >/dev/null 2>&1 || bin/testbed down --name $(DEV)
	rm -rf $(DEV_DIR)

# kubeadm's preflight check SystemVerification does not support the testbed's kernel.
$(DEV_DIR)/%.yaml:
	mkdir -p $(DEV_DIR)/settings
	echo 'kubeadm: {ignorePreflightErrors: [SystemVerification]}' >$(DEV_DIR)/settings/agent.yaml
	test -e $(DEV_DIR)/keys || bin/refit release key create --out $(DEV_DIR)/keys
	bin/testbed collect --kubernetes $* --to $(DEV_DIR)/$*
	bin/refit release create --kubernetes $* --from $(DEV_DIR)/$* --cni-plugins v1.9.1 >$(DEV_DIR)/$*.json
	bin/refit release sign $(DEV_DIR)/$*.json --key $(DEV_DIR)/keys/refit-release.key >$@.partial
	mv $@.partial $@

##@ End to end (as root, on Linux)

# Fail when a pattern matches no test: go test would pass. -list knows no subtests.
define e2e
	@$(GO) test -tags e2e -list '$(firstword $(subst /, ,$(1)))' $(E2E_PACKAGES) | grep '^Test' || { echo "no test matches $(1)" >&2; exit 1; }
	$(GO) test -tags e2e -count=1 -v -p 1 -timeout $(2) -run '$(1)' $(E2E_PACKAGES)
endef

.PHONY: e2e-ci
e2e-ci: ## Run the end-to-end tests that every change must pass
	$(call e2e,$(E2E_CI_RUN),50m)

.PHONY: e2e-testbed
e2e-testbed: ## Create a cluster of every kind, upgrade it with kubeadm and print the baseline
	$(call e2e,$(E2E_TESTBED_RUN),90m)

.PHONY: e2e-testbed-full
e2e-testbed-full: export REFIT_E2E_FULL := 1
e2e-testbed-full: ## Run the variants of e2e-testbed up to the newest version
	$(call e2e,$(E2E_FULL_RUN),120m)

.PHONY: e2e-testbed-leftovers
e2e-testbed-leftovers: ## Check that the testbed leaves nothing on the machine
	$(call e2e,$(E2E_LEFTOVERS_RUN),60m)

.PHONY: e2e-testbed-faults
e2e-testbed-faults: ## Inject faults into nodes and disks and check that the cluster recovers
	$(call e2e,$(E2E_FAULTS_RUN),60m)

.PHONY: e2e-check
e2e-check: ## Inject defects into a cluster and check that `refit check` reports each, and nothing else
	$(call e2e,$(E2E_CHECK_RUN),40m)

.PHONY: e2e-agent
e2e-agent: ## Upgrade a control plane node and a worker and kill their agents at every step
	$(call e2e,$(E2E_AGENT_RUN),30m)

# The crash matrix takes hours and resumes from its results file; REFIT_AGENT_RESULTS names it (bin/agent-crashes.jsonl).
.PHONY: e2e-agent-full
e2e-agent-full: export REFIT_E2E_LOCK ?= 10m
e2e-agent-full: ## Run all agent tests: upgrades, crashes, power cuts, faults, overhead; E2E_AGENT_FULL_RUN selects some
	$(call e2e,$(E2E_AGENT_FULL_RUN),12h)

.PHONY: e2e-upgrade
e2e-upgrade: ## Install Refit, upgrade a small cluster, kill the controllers meanwhile, and uninstall
	$(call e2e,$(E2E_UPGRADE_RUN),30m)

.PHONY: e2e-upgrade-full
e2e-upgrade-full: ## Run all upgrade tests: kinds of clusters, controller faults, user actions, times; E2E_UPGRADE_FULL_RUN selects some
	$(call e2e,$(E2E_UPGRADE_FULL_RUN),6h)

# e2e-upgrade also takes a backup and restores it.
.PHONY: e2e-backup
e2e-backup: ## Take backups of a small cluster, rehearse an upgrade on them, kill the agent meanwhile, and restore etcd
	$(call e2e,$(E2E_BACKUP_RUN),30m)

# The first run builds MinIO and fake-gcs-server, which takes minutes.
.PHONY: e2e-backup-full
e2e-backup-full: export REFIT_CORRUPTIONS := 10000
e2e-backup-full: ## Store backups with faults, verify 10,000 corruptions, restore backups and rehearse upgrades on them
	$(GO) test -count=1 -v -run '^TestCorruptedBackupsAreRefused$$' ./internal/engine/backup/
	$(call e2e,$(E2E_BACKUP_FULL_RUN),60m)

# One node without workers and without the controller: about a minute, most of which creates the cluster. An upgrade would double
# that, and shows little on one node: its address cannot move.
.PHONY: e2e-hosts
e2e-hosts: ## Check that Refit recognizes kinds of hosts, such as those with a virtual IP
	$(call e2e,$(E2E_HOSTS_RUN),15m)

.PHONY: e2e-hosts-full
e2e-hosts-full: ## Upgrade clusters with a virtual IP, an external etcd, the layout of kubespray, and rpm packages, with faults; E2E_HOSTS_FULL_RUN selects some
	$(call e2e,$(E2E_HOSTS_FULL_RUN),3h)

# The first run builds a registry, Prometheus and an OpenTelemetry Collector, which takes minutes.
.PHONY: e2e-adoption
e2e-adoption: ## Upgrade clusters of each kind of hosts with two commands, with content from mirrors of upstream, and one with Prometheus and a collector of traces
	$(call e2e,$(E2E_ADOPTION_RUN),120m)

# It needs Node and the npm registry for the pages.
.PHONY: e2e-serve
e2e-serve: web ## Upgrade one node with the page of refit serve open, and compare what it states each second with the truth
	$(call e2e,$(E2E_SERVE_RUN),30m)

# The figures have limits that only a machine without other load meets.
.PHONY: e2e-serve-full
e2e-serve-full: export REFIT_SERVE_FULL := 1
e2e-serve-full: web ## Run e2e-serve, steer an upgrade on its page, fill in the form of a publisher, sign in with Dex, run the tests of the HTTP API, and measure events, memory with 5,000 nodes, and the size of bin/refit
	$(GO) test -tags apiserver,dex,web -count=1 -v -timeout 60m ./test/apiserver/serve/
	$(call e2e,$(E2E_SERVE_FULL_RUN),60m)

# The first run builds Helm, metrics-server, LeaderWorkerSet and Kueue, which takes minutes.
.PHONY: e2e-components
e2e-components: ## Upgrade metrics-server, LeaderWorkerSet, Kueue and a made chart with a small cluster, and roll one of them back
	$(call e2e,$(E2E_COMPONENTS_RUN),45m)

##@ CI

.PHONY: ci
ci: export SIMULATIONS := 25000
ci: ## Run all checks that a change must pass
	@for target in $(CI); do \
		echo "==> $$target"; start=$$SECONDS; \
		$(MAKE) --no-print-directory $$target || { echo "==> $$target: failed after $$((SECONDS - start)) s" >&2; exit 1; }; \
		echo "==> $$target: $$((SECONDS - start)) s"; \
	done; \
	echo "==> ci: $$SECONDS s"

website/node_modules/.package-lock.json: website/package.json website/package-lock.json
	npm --prefix website ci --prefer-offline
	touch $@

web/node_modules/.package-lock.json: web/package.json web/package-lock.json
	npm --prefix web ci --prefer-offline
	touch $@

# Built once per version: `go tool` would load a thousand packages on each run.
$(LINTER): go.tools.mod go.tools.sum
	$(GO) build -modfile=go.tools.mod -o $@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint

$(CONTROLLER_GEN): go.tools.mod go.tools.sum
	$(GO) build -modfile=go.tools.mod -o $@ sigs.k8s.io/controller-tools/cmd/controller-gen

# Vale has its own module, so that its dependencies do not change those of the linter.
$(OAPI_CODEGEN): go.tools.openapi.mod go.tools.openapi.sum
	$(GO) build -modfile=go.tools.openapi.mod -o $@ github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen

$(VALE): go.tools.vale.mod go.tools.vale.sum
	$(GO) build -modfile=go.tools.vale.mod -o $@ github.com/vale-cli/vale/v3/cmd/vale

# goreleaser and krew have their own modules for the same reason.
$(GORELEASER): go.tools.release.mod go.tools.release.sum
	$(GO) build -modfile=go.tools.release.mod -o $@ github.com/goreleaser/goreleaser/v2

$(KREW): go.tools.krew.mod go.tools.krew.sum
	$(GO) build -modfile=go.tools.krew.mod -o $@ sigs.k8s.io/krew/cmd/krew

$(KREW_VALIDATOR): go.tools.krew.mod go.tools.krew.sum
	$(GO) build -modfile=go.tools.krew.mod -o $@ sigs.k8s.io/krew/cmd/validate-krew-manifest
