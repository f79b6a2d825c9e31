package kubefacts

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/version"
)

func TestAPIOfAnOldManifest(t *testing.T) {
	for _, tc := range []struct{ group, version, kind, removed, replacement string }{
		{"policy", "v1beta1", "PodDisruptionBudget", "1.25", "policy/v1 PodDisruptionBudget"},
		{"extensions", "v1beta1", "Ingress", "1.22", "networking.k8s.io/v1 Ingress"},
		{"networking.k8s.io", "v1beta1", "IngressClass", "1.22", "networking.k8s.io/v1 IngressClass"},
		{"apiextensions.k8s.io", "v1beta1", "CustomResourceDefinition", "1.22", "apiextensions.k8s.io/v1 CustomResourceDefinition"},
		{"batch", "v1beta1", "CronJob", "1.25", "batch/v1 CronJob"},
		{"apps", "v1beta2", "Deployment", "1.16", "apps/v1 Deployment"},
		{"autoscaling", "v2beta2", "HorizontalPodAutoscaler", "1.26", "autoscaling/v2 HorizontalPodAutoscaler"},
	} {
		for _, f := range allFacts(t) {
			api, known := f.API(schema.GroupVersionKind{Group: tc.group, Version: tc.version, Kind: tc.kind})
			if !known || api.Served || api.Default || api.Removed != tc.removed || api.Replacement != tc.replacement {
				t.Errorf("%s: known %t: %+v", f.Version, known, api)
			}
			if again, known := f.Resource(api.GVR()); !known || again.GVK() != api.GVK() {
				t.Errorf("%s: by its resource: %+v", f.Version, again)
			}
		}
	}
}

func TestAPIMissingFromTheSourceIsRemoved(t *testing.T) {
	// 1.34 plans its removal in 1.40; the source of 1.35 does not contain it.
	kind := schema.GroupVersionKind{Group: "certificates.k8s.io", Version: "v1alpha1", Kind: "PodCertificateRequest"}
	planned, _ := facts(t, "1.34").API(kind)
	if !planned.Served || planned.Removed != "1.40" {
		t.Errorf("in 1.34 it is %+v", planned)
	}
	for _, minor := range []string{"1.35", "1.36", "1.37"} {
		if gone, known := facts(t, minor).API(kind); !known || gone.Served || gone.Removed != "1.35" {
			t.Errorf("in %s it is %+v", minor, gone)
		}
	}
}

func TestRemovedAPIs(t *testing.T) {
	for _, tc := range []struct {
		from, to string
		want     []string
	}{
		{"1.35", "1.36", []string{"scheduling.k8s.io/v1alpha1 Workload"}},
		{"1.36", "1.37", []string{
			"certificates.k8s.io/v1alpha1 ClusterTrustBundle", "networking.k8s.io/v1beta1 IPAddress", "networking.k8s.io/v1beta1 ServiceCIDR",
			"scheduling.k8s.io/v1alpha2 PodGroup", "scheduling.k8s.io/v1alpha2 Workload", "storage.k8s.io/v1beta1 VolumeAttributesClass",
		}},
	} {
		var kinds []string
		for _, api := range RemovedAPIs(facts(t, tc.from), facts(t, tc.to)) {
			kinds = append(kinds, api.GVK().GroupVersion().String()+" "+api.Kind)
			if api.Served || api.Removed != tc.to {
				t.Errorf("%s to %s: %+v", tc.from, tc.to, api)
			}
		}
		if !slices.Equal(kinds, tc.want) {
			t.Errorf("%s to %s: removed: %v, want %v", tc.from, tc.to, kinds, tc.want)
		}
	}
}

func TestRemovedAPIsOfADowngrade(t *testing.T) {
	for _, api := range RemovedAPIs(facts(t, "1.37"), facts(t, "1.36")) {
		if api.Served || api.Default {
			t.Errorf("1.36 cannot serve it: %+v", api)
		}
	}
}

func TestLifecyclesAreConsistent(t *testing.T) {
	for _, f := range allFacts(t) {
		seen := map[schema.GroupVersionKind]bool{}
		for _, api := range f.APIs {
			if seen[api.GVK()] {
				t.Errorf("%s: two entries of %s", f.Version, api.GVK())
			}
			seen[api.GVK()] = true
			for _, release := range []string{api.Introduced, api.Deprecated, api.Removed} {
				if _, err := version.ParseGeneric(release); release != "" && err != nil {
					t.Errorf("%s: %s: %v", f.Version, api.GVK(), err)
				}
			}
			if api.Served && (api.Resource == "" || api.Removed != "" && compareMinors(api.Removed, f.Minor()) <= 0) {
				t.Errorf("%s: served, but %+v", f.Version, api)
			}
			if !api.Served && (api.Default || api.Removed == "" || compareMinors(api.Removed, f.Minor()) > 0) {
				t.Errorf("%s: not served, but %+v", f.Version, api)
			}
			if unstable := strings.ContainsAny(api.Version, "ab"); api.Default == unstable && api.Served {
				t.Errorf("%s: alpha and beta APIs must be disabled by default, others enabled: %+v", f.Version, api)
			}
		}
	}
}

func TestBuiltIn(t *testing.T) {
	f := facts(t, "1.36")
	for group, want := range map[string]bool{"": true, "apps": true, "extensions": true, "snapshot.storage.k8s.io": false, "example.com": false} {
		if got := f.BuiltIn(group); got != want {
			t.Errorf("BuiltIn(%q) = %t", group, got)
		}
	}
	if _, known := f.API(schema.GroupVersionKind{Group: "policy", Version: "v1beta1", Kind: "PodSecurityPolicy"}); known {
		t.Error("no source of today remembers PodSecurityPolicy; say so in the documentation if that changed")
	}
}

func TestAcceptsRuntimeConfig(t *testing.T) {
	for _, tc := range []struct {
		situation, minor, key string
		accepted              bool
	}{
		{"all betas", "1.36", "api/beta", true},
		{"a version", "1.36", "batch/v1", true},
		{"the core group", "1.36", "/v1", true},
		{"a resource", "1.36", "storage.k8s.io/v1beta1/volumeattributesclasses", true},
		{"a version that only etcd stores", "1.36", "policy/v1beta1", true},
		{"a version before it was removed", "1.35", "autoscaling/v2beta2", true},
		{"a version after it was removed", "1.36", "autoscaling/v2beta2", false},
		{"an unknown group", "1.36", "example.com/v1", false},
		{"no version", "1.36", "v1", false},
		{"a subresource", "1.36", "batch/v1/jobs/status", false},
	} {
		if got := facts(t, tc.minor).AcceptsRuntimeConfig(tc.key); got != tc.accepted {
			t.Errorf("%s: %s in %s is accepted: %t", tc.situation, tc.key, tc.minor, got)
		}
	}
	if f := facts(t, "1.36"); f.Serves(schema.GroupVersion{Group: "policy", Version: "v1beta1"}) || !f.Serves(schema.GroupVersion{Version: "v1"}) {
		t.Error("what is accepted need not be served")
	}
}
