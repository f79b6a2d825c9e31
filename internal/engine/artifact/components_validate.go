package artifact

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/component"
	"github.com/refit-dev/refit/internal/upgrade/form"
)

// MaxChart is the maximum size of a packed chart: it must fit into a ConfigMap.
const MaxChart = 900 << 10

// The limits of the components of a ClusterRelease.
const (
	maxComponents       = 128 // versions, of all components
	maxPerComponent     = 32  // needs, fits and entries of userMay
	maxComponentVersion = 64
	maxReleaseName      = 53 // Helm appends a suffix to names of objects
)

// helmName matches the name of a Helm release.
var helmName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)

// ValidateComponents validates the components of a ClusterRelease, which a process with wide
// permissions installs.
func ValidateComponents(p refitv1alpha1.ComponentsPayload) error {
	switch {
	case !digestPattern.MatchString(p.Release):
		return errors.New("release: the digest is not sha256: and 64 digits")
	case len(p.Components) == 0:
		return errors.New("components: the list is empty")
	case len(p.Components) > maxComponents:
		return fmt.Errorf("components: %d versions are more than %d", len(p.Components), maxComponents)
	}
	v := componentList{
		versions: map[string]bool{}, releases: map[refitv1alpha1.HelmRelease]string{}, last: map[string]refitv1alpha1.ReleaseComponent{},
		needs: map[string]map[string]bool{}, sizes: map[string]int64{},
	}
	for i, c := range p.Components {
		if err := validateComponent(c); err != nil {
			return fmt.Errorf("components[%d] (%s): %w", i, refitv1alpha1.Clip(c.Name, 63), err)
		}
		if err := v.add(c); err != nil {
			return fmt.Errorf("components[%d] (%s): %w", i, c.Name, err)
		}
	}
	if err := v.checkNeeds(); err != nil || p.Form == nil {
		return err
	}
	if err := form.Validate(p.Form, p.Components); err != nil {
		return fmt.Errorf("form.%w", err)
	}
	return nil
}

func validateComponent(c refitv1alpha1.ReleaseComponent) error {
	switch {
	case len(validation.IsDNS1123Label(c.Name)) > 0:
		return fmt.Errorf("name: %q is not a DNS label of at most 63 characters", refitv1alpha1.Clip(c.Name, 80))
	case len(c.Version) > maxComponentVersion:
		return fmt.Errorf("version: it has more than %d characters", maxComponentVersion)
	case !digestPattern.MatchString(c.Chart.Digest):
		return errors.New("chart.digest: the digest is not sha256: and 64 digits")
	case c.Chart.Size <= 0 || c.Chart.Size > MaxChart:
		return fmt.Errorf("chart.size: a chart has between 1 and %d bytes, not %d", MaxChart, c.Chart.Size)
	case len(validation.IsDNS1123Label(c.Release.Namespace)) > 0:
		return fmt.Errorf("release.namespace: %q is not the name of a namespace", refitv1alpha1.Clip(c.Release.Namespace, 80))
	case len(c.Release.Name) > maxReleaseName || !helmName.MatchString(c.Release.Name):
		return fmt.Errorf("release.name: %q is not the name of a Helm release, which has at most %d lower case letters, digits, dots and dashes",
			refitv1alpha1.Clip(c.Release.Name, 80), maxReleaseName)
	case !slices.Contains([]refitv1alpha1.Placement{"", refitv1alpha1.PlaceAuto, refitv1alpha1.PlaceBefore, refitv1alpha1.PlaceAfter}, c.Place):
		return fmt.Errorf("place: %q is not Auto, Before or After", refitv1alpha1.Clip(string(c.Place), 40))
	case !slices.Contains([]refitv1alpha1.RemovalPolicy{"", refitv1alpha1.RemoveKeep, refitv1alpha1.RemoveUninstall}, c.OnRemove):
		return fmt.Errorf("onRemove: %q is not Keep or Uninstall", refitv1alpha1.Clip(string(c.OnRemove), 40))
	case max(len(c.Needs), len(c.Fits), len(c.UserMay), len(c.Images)) > maxPerComponent:
		return fmt.Errorf("needs, fits, userMay and images may have at most %d entries each", maxPerComponent)
	}
	return validateRules(c)
}

// validateRules validates what the core parses.
func validateRules(c refitv1alpha1.ReleaseComponent) error {
	if err := component.ValidateVersion(c.Version); err != nil {
		return named("version", err)
	}
	if _, err := component.ParseMatrix(c.Fits); err != nil {
		return err
	}
	if err := component.ValidateUserMay(c.UserMay); err != nil {
		return err
	}
	if err := component.ValidateChecks(c.Checks); err != nil {
		return err
	}
	_, err := component.Compile(c.Recipe)
	return err
}

// componentList has the components that were validated.
type componentList struct {
	versions map[string]bool                           // name and version
	releases map[refitv1alpha1.HelmRelease]string      // the component of a Helm release
	last     map[string]refitv1alpha1.ReleaseComponent // by name
	needs    map[string]map[string]bool                // of all versions
	sizes    map[string]int64                          // of charts, by digest
	names    []string                                  // in their order
}

func (v *componentList) add(c refitv1alpha1.ReleaseComponent) error {
	last, known := v.last[c.Name]
	if owner, taken := v.releases[c.Release]; taken && owner != c.Name {
		return fmt.Errorf("release: %s/%s is the Helm release of %s already", c.Release.Namespace, c.Release.Name, owner)
	}
	switch size, seen := v.sizes[c.Chart.Digest]; {
	case v.versions[c.Name+" "+c.Version]:
		return fmt.Errorf("version %s occurs twice", c.Version)
	case known && last.Release != c.Release:
		return fmt.Errorf("release: its other version is the Helm release %s/%s", last.Release.Namespace, last.Release.Name)
	case known && !component.Older(last.Version, c.Version):
		return fmt.Errorf("version %s follows %s: the target is the last version in the list, so older ones precede it", c.Version, last.Version)
	case seen && size != c.Chart.Size:
		return fmt.Errorf("chart: the digest has two sizes, %d and %d bytes", size, c.Chart.Size)
	case !known:
		v.names = append(v.names, c.Name)
		v.needs[c.Name] = map[string]bool{}
	}
	v.versions[c.Name+" "+c.Version], v.releases[c.Release], v.last[c.Name], v.sizes[c.Chart.Digest] = true, c.Name, c, c.Chart.Size
	for _, need := range c.Needs {
		v.needs[c.Name][need] = true
	}
	return nil
}

// checkNeeds refuses needs that no component meets, and components that need each other.
func (v *componentList) checkNeeds() error {
	state := map[string]int{} // 1: on the path, 2: done
	var visit func(name string, path []string) error
	visit = func(name string, path []string) error {
		path = append(path, name)
		switch state[name] {
		case 1:
			return fmt.Errorf("components need each other: %s", strings.Join(path, " → "))
		case 2:
			return nil
		}
		state[name] = 1
		for _, need := range slices.Sorted(maps.Keys(v.needs[name])) {
			if v.needs[need] == nil {
				return fmt.Errorf("component %s needs %q, which the ClusterRelease does not have", name, refitv1alpha1.Clip(need, 63))
			}
			if err := visit(need, path); err != nil {
				return err
			}
		}
		state[name] = 2
		return nil
	}
	for _, name := range v.names {
		if err := visit(name, nil); err != nil {
			return err
		}
	}
	return nil
}
