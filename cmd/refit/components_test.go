package main

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// addOn adds a Component that somebody installed with Helm.
func (s *site) addOn(t *testing.T, name string, owner refitv1alpha1.ComponentOwner) {
	t.Helper()
	c := &refitv1alpha1.Component{ObjectMeta: metav1.ObjectMeta{Name: name}}
	c.Status = refitv1alpha1.ComponentStatus{
		ObservedGeneration: 1, Owner: owner, Installed: &refitv1alpha1.InstalledComponent{Version: "0.7.2", Namespace: "kube-system", Name: name, Revision: 1},
	}
	if err := s.Create(t.Context(), c); err != nil {
		t.Fatal(err)
	}
}

func TestComponentsAreListedExplainedAndAdopted(t *testing.T) {
	s := newSite(t)
	s.addOn(t, "metrics-server", refitv1alpha1.OwnerHelm)
	s.addOn(t, "kueue", refitv1alpha1.OwnerFlux)
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"components", "list"}, 0, "metrics-server  0.7.2"},
		{[]string{"components", "explain", "metrics-server"}, 0, "    refit components adopt metrics-server\n"},
		{[]string{"components", "explain", "nope"}, 1, "there is no Component nope in prod: `refit components list` lists them"},
		{[]string{"components", "explain"}, 2, "name one component"},
		{[]string{"components", "diff", "metrics-server"}, 1, "no ClusterRelease in the cluster offers component metrics-server"},
		{[]string{"components", "adopt", "kueue"}, 1, `{"spec":{"manage":"Observe"}}`},
		{[]string{"components", "adopt", "metrics-server", "--dry-run"}, 0, "Refit would take over metrics-server"},
		{[]string{"components", "adopt", "metrics-server"}, 0, "Adopted metrics-server"},
		{[]string{"components", "adopt", "metrics-server"}, 0, "adopted already"},
	} {
		s.out.Reset()
		s.err.Reset()
		if code := s.refit(t, c.args...); code != c.code || !strings.Contains(s.out.String()+s.err.String(), c.says) {
			t.Errorf("%v: exit code %d, want %d and %q:\n%s\n%s", c.args, code, c.code, c.says, s.err, s.out)
		}
	}
	var stored refitv1alpha1.Component
	if err := s.Get(t.Context(), client.ObjectKey{Name: "metrics-server"}, &stored); err != nil || !stored.Spec.Adopt {
		t.Errorf("%+v, %v", stored.Spec, err)
	}
	s.out.Reset()
	if code := s.refit(t, "components", "list", "-o", "json"); code != 0 {
		t.Errorf("exit code %d: %s", code, s.err)
	}
	var list cliv1alpha1.Components
	if err := json.Unmarshal(s.out.Bytes(), &list); err != nil || list.Kind != cliv1alpha1.KindComponents || len(list.Components) != 2 || !list.Components[1].Adopt {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestNamesOfComponentsAreCompleted(t *testing.T) {
	s := newSite(t)
	s.addOn(t, "metrics-server", refitv1alpha1.OwnerHelm)
	if code := run(t.Context(), s.app, []string{"__complete", "components", "explain", "--kubeconfig", s.kubeconfig, ""}); code != 0 {
		t.Fatalf("exit code %d: %s", code, s.err)
	}
	if !strings.HasPrefix(s.out.String(), "metrics-server\n") {
		t.Errorf("%s", s.out)
	}
}

func TestAnAdoptionWithoutPermissionNamesTheVerb(t *testing.T) {
	s := newSite(t)
	s.addOn(t, "metrics-server", refitv1alpha1.OwnerHelm)
	s.WithWatch = interceptor.NewClient(s.WithWatch, interceptor.Funcs{
		Patch: func(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error {
			return apierrors.NewForbidden(refitv1alpha1.GroupVersion.WithResource("components").GroupResource(), "metrics-server", context.Canceled)
		},
	})
	code := s.refit(t, "components", "adopt", "metrics-server")
	for _, want := range []string{"the verbs patch and approve on components.refit.dev", "--clusterrole refit-component-editor"} {
		if code != 1 || !strings.Contains(s.err.String(), want) {
			t.Errorf("exit code %d, want 1 and %q: %s", code, want, s.err)
		}
	}
}

func TestAnUpgradeOfComponentsAlone(t *testing.T) {
	for name, c := range map[string]struct {
		args      []string
		installed string
		code      int
		says      string
		starts    bool
	}{
		"a component is behind":        {[]string{"upgrade", "--components", "--yes"}, "0.7.2", 0, "Plan for prod: components, on Kubernetes v1.35.4", true},
		"its plan":                     {[]string{"plan", "--components"}, "0.7.2", 0, "refit upgrade --components", false},
		"all components are there":     {[]string{"upgrade", "--components", "--yes"}, "0.9.0", 0, "Nothing to upgrade: the components of prod are at the versions", false},
		"the version that runs":        {[]string{"upgrade", "--components", "--to", "v1.35.4", "--yes"}, "0.7.2", 0, "0.7.2 → 0.9.0", true},
		"another version":              {[]string{"upgrade", "--components", "--to", "v1.36.3", "--yes"}, "0.7.2", 2, "the cluster runs Kubernetes v1.35.4, and the target is v1.36.3", false},
		"a part of the nodes":          {[]string{"upgrade", "--components", "--scope", "Workers", "--yes"}, "0.7.2", 2, "--components and --scope exclude each other", false},
		"a limit of what is disrupted": {[]string{"plan", "--components", "--max-unavailable", "2"}, "0.7.2", 2, "exclude each other", false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.succeeds(t)
			s.observe = func(context.Context, *rest.Config, func(string)) (*cluster.Snapshot, error) {
				snapshot := shop()
				release := snapshot.Releases[0]
				release.Name, release.Payload.Kubernetes = "addons", "v1.35.4"
				release.Components = []refitv1alpha1.ReleaseComponent{{Name: "metrics-server", Version: "0.9.0"}}
				snapshot.Releases = append(snapshot.Releases, release)
				snapshot.Components = []cluster.Component{{Name: "metrics-server", Manage: refitv1alpha1.ManageRefit, Status: refitv1alpha1.ComponentStatus{
					Owner: refitv1alpha1.OwnerRefit, Installed: &refitv1alpha1.InstalledComponent{Version: c.installed, Namespace: "kube-system", Name: "ms", Revision: 1},
				}}}
				return snapshot, nil
			}
			if code := s.refit(t, c.args...); code != c.code || !strings.Contains(s.out.String()+s.err.String(), c.says) {
				t.Errorf("exit code %d, want %d and %q:\n%s\n%s", code, c.code, c.says, s.err, s.out)
			}
			if all := s.all(t); (len(all) > 0) != c.starts {
				t.Errorf("it started %v", all)
			}
		})
	}
}
