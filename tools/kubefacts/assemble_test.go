package main

import (
	"reflect"
	"strings"
	"testing"

	"github.com/refit-dev/refit/internal/upgrade/kubefacts"
)

func TestIdenticalGatesAreMerged(t *testing.T) {
	everywhere := kubefacts.Gate{Name: "Everywhere", Stage: kubefacts.GA, Default: true, Locked: true}
	of := map[string][]kubefacts.Gate{}
	for _, component := range kubefacts.Components() {
		of[component] = []kubefacts.Gate{everywhere}
	}
	of[kubefacts.Kubelet] = append(of[kubefacts.Kubelet], kubefacts.Gate{Name: "Differs", Stage: kubefacts.Beta})
	of[kubefacts.KubeProxy] = append(of[kubefacts.KubeProxy], kubefacts.Gate{Name: "Differs", Stage: kubefacts.Alpha})
	want := []kubefacts.Gate{
		{Name: "Differs", Stage: kubefacts.Beta, Components: []string{kubefacts.Kubelet}},
		{Name: "Differs", Stage: kubefacts.Alpha, Components: []string{kubefacts.KubeProxy}},
		everywhere,
	}
	if got := mergeGates(of); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

func TestRemovedKindGetsTheResourceOfItsReplacement(t *testing.T) {
	const gone = "gone.example.com"
	named := nameResources([]kubefacts.API{
		{Group: "apps", Version: "v1", Kind: "Deployment", Resource: "deployments", Namespaced: true, Served: true},
		{Group: "apps", Version: "v1beta1", Kind: "Deployment"},
		{Group: gone, Version: "v1", Kind: "Deployment", Replacement: "apps/v1 Deployment"},
		{Group: gone, Version: "v1", Kind: "Rollout", Replacement: "apps/v1 Deployment"},
		{Group: gone, Version: "v1", Kind: "Other"},
	})
	for i, want := range []string{"deployments", "deployments", "deployments", "", ""} {
		if got := named[i]; got.Resource != want || got.Namespaced != (want != "") {
			t.Errorf("%s: %q, namespaced %t", got.GVK(), got.Resource, got.Namespaced)
		}
	}
}

func TestInvalidResults(t *testing.T) {
	complete := func() map[string]string {
		results := map[string]string{"kubeadm": `{}`}
		for _, component := range kubefacts.Components() {
			results[component] = `{}`
		}
		return results
	}
	if _, err := assemble("v1.36.3", complete()); err != nil {
		t.Fatalf("complete results: %v", err)
	}
	for situation, tc := range map[string]struct {
		change func(map[string]string)
		want   string
	}{
		"missing component": {func(a map[string]string) { delete(a, kubefacts.Kubelet) }, "no result for kubelet"},
		"missing kubeadm":   {func(a map[string]string) { delete(a, "kubeadm") }, "no result for kubeadm"},
		"unknown field":     {func(a map[string]string) { a[kubefacts.Kubelet] = `{"more":1}` }, `unknown field "more"`},
		"invalid JSON":      {func(a map[string]string) { a[kubefacts.Kubelet] = `panic` }, "reading the result for kubelet"},
	} {
		results := complete()
		tc.change(results)
		if _, err := assemble("v1.36.3", results); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v", situation, err)
		}
	}
}
