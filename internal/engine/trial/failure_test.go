package trial

import (
	"errors"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestWhatStandsInTheWayOfAPod(t *testing.T) {
	for situation, tc := range map[string]struct {
		err     error
		verdict bool
	}{
		"a right is missing":           {apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "cp-1", errors.New("no")), true},
		"a webhook does not answer":    {apierrors.NewInternalError(errors.New(`failed calling webhook "x.example.com": no endpoints available`)), true},
		"the API server has a problem": {apierrors.NewInternalError(errors.New("etcdserver: request timed out")), false},
		"the API is away":              {errors.New("connection refused"), false},
	} {
		t.Run(situation, func(t *testing.T) {
			if _, is := errors.AsType[*Failure](verdict(fmt.Errorf("making a Pod: %w", tc.err))); is != tc.verdict {
				t.Errorf("it is the node's or the cluster's failure: %t, want %t", is, tc.verdict)
			}
		})
	}
}
