package manifest

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/arguments"
	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/upgrade/request"
)

// Flags describe an upgrade on a command line. They override a manifest.
type Flags struct {
	To, Release    string
	Scope          string
	NodeSelector   string
	MaxUnavailable string
	Window         string
	Waive          []string
}

// Scopes are the values of --scope.
var Scopes = []string{string(refitv1alpha1.ScopeAll), string(refitv1alpha1.ScopeControlPlane), string(refitv1alpha1.ScopeWorkers)}

// Apply applies the flags to a spec, except for the target, and returns the waivers among them.
func (f *Flags) Apply(spec *refitv1alpha1.ClusterUpgradeSpec) ([]refitv1alpha1.Waiver, error) {
	if f.To != "" && f.Release != "" {
		return nil, errors.New("--to and --release exclude each other")
	}
	if f.Scope != "" {
		scope, err := arguments.OneOf("--scope", f.Scope, Scopes)
		if err != nil {
			return nil, err
		}
		spec.Scope = refitv1alpha1.Scope(scope)
	}
	if f.NodeSelector != "" {
		selector, err := labels.ConvertSelectorToLabelsMap(f.NodeSelector)
		if err != nil {
			return nil, fmt.Errorf("--node-selector: %q is not a list of labels such as key=value,key2=value2", f.NodeSelector)
		}
		spec.NodeSelector = map[string]string(selector)
	}
	if f.MaxUnavailable != "" {
		value := intstr.Parse(f.MaxUnavailable)
		if err := request.ValidateShare(&value); err != nil {
			return nil, fmt.Errorf("--max-unavailable: %w", err)
		}
		request.DefaultPool(spec).MaxUnavailable = &value
	}
	if f.Window != "" {
		spec.Window = f.Window
	}
	var waivers []refitv1alpha1.Waiver
	for _, text := range f.Waive {
		waiver, err := request.ParseWaiver(text)
		if err != nil {
			return nil, fmt.Errorf("--waive: %w", err)
		}
		waivers = append(waivers, waiver)
	}
	spec.Waivers = append(spec.Waivers, waivers...)
	return waivers, nil
}

// ApplyTarget applies the target to a spec that has all other flags: they decide which patch
// release of a minor version can be reached. resolve returns that release.
func (f *Flags) ApplyTarget(
	spec *refitv1alpha1.ClusterUpgradeSpec, resolve func(minor string, spec refitv1alpha1.ClusterUpgradeSpec) (string, error),
) error {
	if f.Release != "" {
		spec.Target = refitv1alpha1.Target{Release: f.Release}
	}
	if f.To == "" {
		return nil
	}
	if minor, ok := request.ParseMinor(f.To); ok {
		version, err := resolve(minor, *spec)
		if err != nil {
			return err
		}
		f.To = version // the commands that are suggested have the same target
	}
	version, err := request.ParseVersion(f.To)
	if err != nil {
		return exit.Usagef("--to: %w", err)
	}
	spec.Target = refitv1alpha1.Target{Kubernetes: version}
	return nil
}
