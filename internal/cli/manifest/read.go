package manifest

import (
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/document"
	"github.com/refit-dev/refit/internal/cli/exit"
)

const kind = "ClusterUpgrade"

// Read decodes the ClusterUpgrade in a file of this name. Its errors are usage errors.
func Read(name string, raw []byte) (*refitv1alpha1.ClusterUpgrade, error) {
	only, err := document.Only(raw, kind)
	if err != nil {
		return nil, exit.Usagef("%s: %w", name, err)
	}
	var found metav1.TypeMeta
	if err := yaml.Unmarshal(only, &found); err != nil {
		return nil, exit.Usagef("%s is neither YAML nor JSON: %w", name, err)
	}
	if found.Kind != kind || found.APIVersion != refitv1alpha1.GroupVersion.String() {
		return nil, exit.Usagef("%s: expected a %s of %s, found kind %q of apiVersion %q", name, kind, refitv1alpha1.GroupVersion, found.Kind, found.APIVersion)
	}
	upgrade := &refitv1alpha1.ClusterUpgrade{}
	if err := document.Decode(only, upgrade); err != nil {
		return nil, exit.Usagef("%s: %w", name, err)
	}
	if err := rejectZero(only); err != nil {
		return nil, exit.Usagef("%s: %w", name, err)
	}
	return upgrade, nil
}

// rejectZero rejects a manifest with 0 where the API rejects it: once the manifest is decoded, 0
// cannot be distinguished from a field that is not set.
func rejectZero(document []byte) error {
	var given struct {
		Spec struct {
			Pools []struct {
				Canary struct {
					Nodes *int             `json:"nodes"`
					Soak  *metav1.Duration `json:"soak"`
				} `json:"canary"`
				Drain struct {
					Timeout *metav1.Duration `json:"timeout"`
				} `json:"drain"`
			} `json:"pools"`
		} `json:"spec"`
	}
	if err := yaml.Unmarshal(document, &given); err != nil {
		return errors.New("cannot parse its pools")
	}
	for i, pool := range given.Spec.Pools {
		zero := func(d *metav1.Duration) bool { return d != nil && d.Duration == 0 }
		switch {
		case pool.Canary.Nodes != nil && *pool.Canary.Nodes == 0:
			return fmt.Errorf("pools[%d].canary.nodes: 0 is no canary: leave canary out", i)
		case zero(pool.Canary.Soak):
			return fmt.Errorf("pools[%d].canary.soak: it must be longer than 0s", i)
		case zero(pool.Drain.Timeout):
			return fmt.Errorf("pools[%d].drain.timeout: it must be longer than 0s", i)
		}
	}
	return nil
}
