//go:build e2e

package upgrade

import (
	"strings"
	"testing"
)

// never is a budget that lets no pod of the shop's StatefulSet go.
const never = `{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: never, namespace: shop},
	spec: {maxUnavailable: 0, selector: {matchLabels: {app: db}}}}`

func (s *site) budgetHolds(t *testing.T) {
	t.Helper()
	s.apply(t, never)
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
