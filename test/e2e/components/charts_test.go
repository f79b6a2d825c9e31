//go:build e2e

package components

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/refit-dev/refit/test/testbed/builder"
	"github.com/refit-dev/refit/test/testbed/versions"
)

// The namespaces and names of the user's Helm releases.
const (
	metricsServer = "metrics-server"
	lws           = "lws"
	lwsNamespace  = "lws-system"
	kueue         = "kueue"
	made          = "made"
	fluxed        = "fluxed"
)

// The user's values: metrics-server does not verify the kubelets' own certificates.
const (
	userArgs      = `["--kubelet-insecure-tls","--metric-resolution=20s"]`
	userResources = `{"requests":{"cpu":"20m","memory":"64Mi"}}`
)

// fluxLabels mark the objects of a release as Flux does.
const fluxLabels = `labels.helm\.toolkit\.fluxcd\.io/name=fluxed,labels.helm\.toolkit\.fluxcd\.io/namespace=flux-system`

// installCharts installs the old versions with Helm, as a user does, and creates their objects.
func (s *site) installCharts(t *testing.T) {
	t.Helper()
	for _, addon := range s.before {
		must(t, s.LoadImages(t.Context(), running(addon)))
	}
	install := func(namespace, name, chart string, flags ...string) {
		s.run(t, append([]string{"install", name, chart, "--namespace=" + namespace, "--create-namespace", "--wait", "--timeout=5m"}, flags...)...)
	}
	install(made, made, s.made[0], "--set=greeting=hello")
	install(fluxed, fluxed, s.made[0], "--set="+fluxLabels)
	install("kube-system", metricsServer, s.before[metricsServer].Chart,
		"--set=image.tag="+tagOf(s.before[metricsServer]), "--set-json=args="+userArgs, "--set-json=resources="+userResources)
	install(lwsNamespace, lws, s.before[lws].Chart,
		"--set=image.manager.tag="+tagOf(s.before[lws]), "--set=image.manager.pullPolicy=IfNotPresent", "--set-json=resources="+userResources,
		fmt.Sprintf("--set=replicaCount=%d", s.replicas()))
	install(kueueNamespace, kueue, s.before[kueue].Chart,
		"--set="+kueueImage+tagOf(s.before[kueue]), "--set-json=controllerManager.manager.resources="+userResources)
	if addon, has := s.before[liqo]; has {
		s.installLiqo(t, s.Cluster, addon)
	}
	s.installed = s.releases(t)
	s.createObjects(t)
}

// replicas is the user's number of replicas of LeaderWorkerSet: one per worker.
func (s *site) replicas() int { return s.Spec().Workers }

func tagOf(addon builder.Addon) string { return "v" + addon.Version }

// componentsFile writes the file of a publisher, with Liqo if the site has it. The matrix excludes
// LeaderWorkerSet 0.7 from the newer Kubernetes, so that its upgrade precedes the control plane.
func (s *site) componentsFile(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "components.yaml")
	text := fmt.Appendf(nil, `components:
- name: made
  chart: %[1]s
  release: {namespace: made, name: made}
  place: Before
  values: {image: %[2]s}
  userMay: [greeting]
  recipe:
  - freeze:
      limit: 10m
      deny: {operations: [CREATE], resources: [things.made.test]}
  - crds: {}
  - wave: {name: rest}
  - verify: {ready: All, images: OnlyOfRelease, soak: 15s}
- name: lws
  chart: %[3]s
  release: {namespace: lws-system, name: lws}
  fits:
  - {version: ">=0.7 <0.8", kubernetes: ">=1.33 <1.36"}
  - {version: ">=0.8 <0.9", kubernetes: ">=1.33 <1.37"}
  values: {image: {manager: {tag: %[4]s, pullPolicy: IfNotPresent}}}
  userMay: ["resources.**", replicaCount]
- name: metrics-server
  chart: %[5]s
  release: {namespace: kube-system, name: metrics-server}
  values: {image: {tag: %[6]s}}
  userMay: ["resources.**", args]
- name: kueue
  chart: %[7]s
  release: {namespace: kueue-system, name: kueue}
  values: {controllerManager: {manager: {image: {repository: registry.k8s.io/kueue/kueue, tag: %[8]s, pullPolicy: IfNotPresent}}}}
  userMay: ["controllerManager.manager.resources.**"]
- name: fluxed
  chart: %[1]s
  release: {namespace: fluxed, name: fluxed}
  values: {image: %[2]s}
`, s.made[1], versions.BusyboxImage, s.after[lws].Chart, tagOf(s.after[lws]), s.after[metricsServer].Chart, tagOf(s.after[metricsServer]),
		s.after[kueue].Chart, tagOf(s.after[kueue]))
	if addon, has := s.after[liqo]; has {
		_, list, _ := bytes.Cut(liqoFile(t, addon), []byte("components:\n"))
		text = append(text, list...)
	}
	must(t, os.WriteFile(file, text, 0o644))
	return file
}

// archives are the images of the new versions.
func (s *site) archives() []string {
	archives := []string{s.busyboxArchive}
	for _, name := range slices.Sorted(maps.Keys(s.after)) {
		archives = append(archives, s.after[name].Archives...)
	}
	return archives
}

// adopt creates the Components of the user. The release of Flux stays with Flux.
func (s *site) adopt(t *testing.T, greeting string) {
	t.Helper()
	s.kubectl(t, fmt.Sprintf(`apiVersion: refit.dev/v1alpha1
kind: Component
metadata: {name: metrics-server}
spec: {adopt: true, values: {args: %s, resources: %s}}
---
apiVersion: refit.dev/v1alpha1
kind: Component
metadata: {name: lws}
spec: {adopt: true, values: {resources: %s, replicaCount: %d}}
---
apiVersion: refit.dev/v1alpha1
kind: Component
metadata: {name: kueue}
spec: {adopt: true, values: {controllerManager: {manager: {resources: %s}}}}
---
apiVersion: refit.dev/v1alpha1
kind: Component
metadata: {name: made}
spec: {adopt: true, values: {greeting: %s}}
---
apiVersion: refit.dev/v1alpha1
kind: Component
metadata: {name: fluxed}
spec: {manage: Observe}
`, userArgs, userResources, userResources, s.replicas(), userResources, greeting), "apply", "--server-side", "--filename=-")
	if _, has := s.before[liqo]; has {
		s.adoptLiqo(t, liqoValues(s.Cluster))
	}
}
