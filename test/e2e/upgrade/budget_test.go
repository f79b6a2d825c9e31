//go:build e2e

package upgrade

import (
	"strings"
	"testing"

	"github.com/refit-dev/refit/test/testbed/versions"
)

// never is a Deployment with a pod on each worker and a PDB that allows no disruptions.
var never = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: never, namespace: shop}, spec: {replicas: 2, selector: {matchLabels: {app: never}},
	template: {metadata: {labels: {app: never}}, spec: {terminationGracePeriodSeconds: 1,
		affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: never}}}]}},
		containers: [{name: main, image: "` + versions.BusyboxImage + `", imagePullPolicy: Never, command: [sleep, "36000"]}]}}}}
---
{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: never, namespace: shop},
	spec: {maxUnavailable: 0, selector: {matchLabels: {app: never}}}}`

func (s *site) budgetHolds(t *testing.T) {
	t.Helper()
	s.apply(t, never)
	_, err := s.Kubectl(t.Context(), nil, "--namespace=shop", "rollout", "status", "deployment/never", "--timeout=3m")
	must(t, err)
}

func (s *site) budgetGone(t *testing.T) {
	t.Helper()
	s.delete(t, never)
}

// apply writes an object, delete removes it.
func (s *site) apply(t *testing.T, manifest string) {
	t.Helper()
	_, err := s.Kubectl(t.Context(), strings.NewReader(manifest), "apply", "--filename=-")
	must(t, err)
}

func (s *site) delete(t *testing.T, manifest string) {
	t.Helper()
	_, err := s.Kubectl(t.Context(), strings.NewReader(manifest), "delete", "--ignore-not-found", "--filename=-")
	must(t, err)
}
