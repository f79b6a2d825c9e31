package manifest

import (
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/document"
	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/upgrade/request"
)

const kind = "ClusterUpgrade"

// Read decodes the ClusterUpgrade in a file of this name. Its errors are usage errors.
func Read(name string, raw []byte) (*refitv1alpha1.ClusterUpgrade, error) {
	only, err := document.Only(raw, kind)
	if err != nil {
		return nil, exit.Usagef("%s: %w", name, err)
	}
	if err := checkKind(name, only); err != nil {
		return nil, err
	}
	upgrade := &refitv1alpha1.ClusterUpgrade{}
	if err := document.Decode(only, upgrade); err != nil {
		return nil, exit.Usagef("%s: %w", name, err)
	}
	if err := rejectZero(only); err != nil {
		return nil, exit.Usagef("%s: %w", name, err)
	}
	if upgrade.Name != "" {
		if err := request.ValidateName(upgrade.Name); err != nil {
			return nil, exit.Usagef("%s: metadata.name: %w", name, err)
		}
	}
	return upgrade, nil
}

// checkKind rejects a document of another kind.
func checkKind(name string, document []byte) error {
	var content any
	if err := yaml.Unmarshal(document, &content); err != nil {
		return exit.Usagef("%s is neither YAML nor JSON: %w", name, err)
	}
	fields, isObject := content.(map[string]any)
	switch {
	case !isObject:
		return exit.Usagef("%s: expected a %s of %s, found no object", name, kind, refitv1alpha1.GroupVersion)
	case fields["kind"] != kind || fields["apiVersion"] != refitv1alpha1.GroupVersion.String():
		return exit.Usagef("%s: expected a %s of %s, found kind %q of apiVersion %q", name, kind, refitv1alpha1.GroupVersion,
			textOf(fields["kind"]), textOf(fields["apiVersion"]))
	}
	return nil
}

// textOf is the text of a field, empty if it is not set.
func textOf(field any) string {
	if field == nil {
		return ""
	}
	return fmt.Sprint(field)
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
