package offer

import (
	"context"
	"strings"
	"testing"

	"github.com/refit-dev/refit/internal/engine/helm"
)

func TestTheObjectOfAnotherHelmReleaseIsNotToBeDeleted(t *testing.T) {
	ref := helm.Ref{Kind: "Service", Namespace: "shop", Name: "cart"}
	for release, wants := range map[string]struct {
		message string
		deletes bool
	}{
		"shop/old": {"belongs to the Helm release shop/old", false},
		"":         {"does not belong to the Helm release", true},
	} {
		o := &Offer{Created: []helm.Ref{ref}}
		in := Input{Foreign: func(context.Context, []helm.Ref) ([]helm.ForeignObject, error) {
			return []helm.ForeignObject{{Ref: ref, Release: release}}, nil
		}}
		if err := o.existing(t.Context(), in); err != nil || len(o.Problems) != 1 {
			t.Fatalf("problems %+v, %v", o.Problems, err)
		}
		p := &o.Problems[0]
		if p.Reason != "ObjectExists" || !strings.Contains(p.Message, wants.message) || strings.Contains(p.Remedy, "Delete") != wants.deletes {
			t.Errorf("release %q: %+v", release, p)
		}
	}
}

// TestHooksThatExist: Helm deletes what has the name of a hook.
func TestHooksThatExist(t *testing.T) {
	const template = `apiVersion: v1
kind: ConfigMap
metadata: {name: a}
---
apiVersion: v1
kind: Secret
metadata: {name: credentials, annotations: {helm.sh/hook: pre-upgrade}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: migrate, annotations: {helm.sh/hook: pre-upgrade}}
`
	o := computed(t, template, func(in *Input) {
		in.Foreign = func(_ context.Context, refs []helm.Ref) (all []helm.ForeignObject, _ error) {
			for _, ref := range refs { // all of them exist
				all = append(all, helm.ForeignObject{Ref: ref})
			}
			return all, nil
		}
	})
	if len(o.Problems) != 1 || o.Problems[0].Reason != "ObjectExists" || o.Problems[0].Object != "Secret/credentials" || !o.Problems[0].Blocks {
		t.Errorf("problems: %+v", o.Problems)
	}
}
