package trial

import (
	"errors"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestErrorsThatAreAVerdict(t *testing.T) {
	for situation, tc := range map[string]struct {
		err     error
		verdict bool
	}{
		"a missing permission":       {apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "cp-1", errors.New("no")), true},
		"an unreachable webhook":     {apierrors.NewInternalError(errors.New(`failed calling webhook "x.example.com": no endpoints available`)), true},
		"an error of the API server": {apierrors.NewInternalError(errors.New("etcdserver: request timed out")), false},
		"an unreachable API":         {errors.New("connection refused"), false},
	} {
		t.Run(situation, func(t *testing.T) {
			if _, is := errors.AsType[*Failure](verdict(fmt.Errorf("cannot create a Pod: %w", tc.err))); is != tc.verdict {
				t.Errorf("a Failure: %t, want %t", is, tc.verdict)
			}
		})
	}
}
