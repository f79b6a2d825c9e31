package component

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/version"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Matrix is the combinations of versions of a component that work.
type Matrix struct {
	fits []fit
}

type fit struct{ component, kubernetes, peers Range }

// ParseMatrix parses the combinations of a component.
func ParseMatrix(fits []refitv1alpha1.ComponentFit) (Matrix, error) {
	var m Matrix
	for i, f := range fits {
		var parsed fit
		for _, part := range []struct {
			name, text string
			into       *Range
		}{{"version", f.Version, &parsed.component}, {"kubernetes", f.Kubernetes, &parsed.kubernetes}, {"peers", f.Peers, &parsed.peers}} {
			r, err := ParseRange(part.text)
			if err != nil {
				return Matrix{}, fmt.Errorf("fits[%d].%s: %w", i, part.name, err)
			}
			*part.into = r
		}
		m.fits = append(m.fits, parsed)
	}
	return m, nil
}

// Fits reports whether a version of the component works with a version of Kubernetes. Without any
// combination, every version does.
func (m Matrix) Fits(component, kubernetes *version.Version) bool {
	for _, f := range m.fits {
		if f.component.Contains(component) && f.kubernetes.Contains(kubernetes) {
			return true
		}
	}
	return len(m.fits) == 0
}

// FitsPeer reports whether a version of the component works with a peer of another version.
func (m Matrix) FitsPeer(component, peer *version.Version) bool {
	for _, f := range m.fits {
		if f.component.Contains(component) && f.peers.Contains(peer) {
			return true
		}
	}
	return len(m.fits) == 0
}
