package crd

import (
	apiequality "k8s.io/apimachinery/pkg/api/equality"
)

// equalSpecs reports whether two definitions are equal for the API server, apart from the CA of the
// conversion webhook, which a controller may inject at any time.
func equalSpecs(a, b *Definition) bool {
	x, err := internal(withoutCA(a))
	if err != nil {
		return false
	}
	y, err := internal(withoutCA(b))
	return err == nil && apiequality.Semantic.DeepEqual(x.Spec, y.Spec)
}

func withoutCA(crd *Definition) *Definition {
	if clientConfigOf(crd) == nil {
		return crd
	}
	crd = crd.DeepCopy()
	clientConfigOf(crd).CABundle = nil
	return crd
}
