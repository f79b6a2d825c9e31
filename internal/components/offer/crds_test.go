package offer

import (
	"context"

	"github.com/refit-dev/refit/internal/engine/crd"
)

// noCRDs is a cluster without CRDs.
type noCRDs struct{}

func (noCRDs) Judge(context.Context, *crd.Definition) (*crd.Report, error) {
	return &crd.Report{}, nil
}

func (noCRDs) Definitions(context.Context, ...string) (map[string]*crd.Definition, error) {
	return nil, nil
}
