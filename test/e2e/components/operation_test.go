//go:build e2e

package components

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/e2e/bed"
)

// offered waits until refit-components has computed what the ClusterRelease changes in each
// component, for the current values.
func (s *site) offered(t *testing.T, components ...string) {
	t.Helper()
	begun := time.Now()
	for _, name := range components {
		must(t, until(t.Context(), "an offer of "+name, checkTimeout, func(ctx context.Context) error {
			c, err := bed.Get[refitv1alpha1.Component](ctx, s.Bed, bed.Components, name)
			if err != nil {
				return err
			}
			offers := c.Status.Offers
			if c.Status.ObservedGeneration != c.Generation || len(offers) == 0 || offers[0].Action != refitv1alpha1.ActionNone && offers[0].Digest == "" {
				return fmt.Errorf("its status is %+v", c.Status)
			}
			return nil
		}))
	}
	t.Logf("the offers took %.1f s", time.Since(begun).Seconds())
}

// operation returns the only operation.
func (s *site) operation(ctx context.Context) (*refitv1alpha1.ClusterUpgrade, error) {
	out, err := s.Kubectl(ctx, nil, "get", "clusterupgrades", "--output=json")
	if err != nil {
		return nil, err
	}
	var list refitv1alpha1.ClusterUpgradeList
	if err := json.Unmarshal(out, &list); err != nil {
		return nil, err
	}
	if len(list.Items) != 1 {
		return nil, fmt.Errorf("there are %d operations", len(list.Items))
	}
	return &list.Items[0], nil
}

// reaches waits until the operation is in a phase, and fails if it stalls instead.
func (s *site) reaches(t *testing.T, phase refitv1alpha1.Phase) *refitv1alpha1.ClusterUpgrade {
	t.Helper()
	var found *refitv1alpha1.ClusterUpgrade
	must(t, until(t.Context(), "the phase "+string(phase), whole, func(ctx context.Context) error {
		ctx, cancel := bed.Soon(ctx)
		defer cancel()
		u, err := s.operation(ctx)
		if err != nil {
			return err
		}
		if u.Status.Phase != phase || u.Status.ObservedGeneration != u.Generation {
			return fmt.Errorf("it is %s: %s", u.Status.Phase, u.Status.Message)
		}
		found = u
		return nil
	}))
	return found
}

// upgrade returns the order and the journal of a component.
func (s *site) upgrade(t *testing.T, name string) *refitv1alpha1.ComponentUpgrade {
	t.Helper()
	u, err := bed.Get[refitv1alpha1.ComponentUpgrade](t.Context(), s.Bed, bed.ComponentUpgrades, name)
	must(t, err)
	return u
}

// nothingFrozen fails if a freeze is left.
func (s *site) nothingFrozen(t *testing.T) {
	t.Helper()
	kinds := "validatingadmissionpolicies,validatingadmissionpolicybindings"
	if left := strings.TrimSpace(string(s.kubectl(t, "", "get", kinds, "--selector=refit.dev/freeze", "--output=name"))); left != "" {
		t.Errorf("a freeze is left: %s", left)
	}
}

// creates fails unless the user may create an object, which a freeze denied.
func (s *site) creates(t *testing.T, object *unstructured.Unstructured) {
	t.Helper()
	manifest, err := object.MarshalJSON()
	must(t, err)
	s.kubectl(t, string(manifest), "create", "--filename=-", "--dry-run=server")
}
