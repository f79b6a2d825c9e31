//go:build apiserver

package api

import (
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/apiserver"
)

func TestDefaults(t *testing.T) {
	apiserver.EachVersion(t, func(t *testing.T, version string) {
		s := serverOf(t, version)

		plain := made(t, s, smallest("ClusterUpgrade", "plain"))
		want := object{
			"target": object{"kubernetes": "v1.36.3"}, "scope": "All", "approval": "Required", "rollback": "Auto",
			"backup": object{"store": "local", "drill": "Rehearse", "maxAge": "24h"},
		}
		if got := plain.Object["spec"]; !reflect.DeepEqual(got, want) {
			t.Errorf("the smallest ClusterUpgrade became %v", got)
		}

		pooled := made(t, s, with(t, smallest("ClusterUpgrade", "pooled"), "spec.pools", list{
			pool("gpu", "canary", object{}), pool("default", "drain", object{"onBlocked": "Skip"}),
		}))
		got := pooled.Object["spec"].(map[string]any)["pools"]
		wantPools := list{
			object{
				"name": "gpu", "nodeSelector": object{"pool": "gpu"}, "maxUnavailable": int64(1),
				"canary": object{"nodes": int64(1), "soak": "10m"},
				"drain":  object{"timeout": "15m", "onBlocked": "Wait", "when": "MinorReleases"},
			},
			object{
				"name": "default", "maxUnavailable": int64(1), // and no canary
				"drain": object{"timeout": "15m", "onBlocked": "Skip", "when": "MinorReleases"},
			},
		}
		if !reflect.DeepEqual(got, wantPools) {
			t.Errorf("the pools became %v", got)
		}

		schedule := made(t, s, smallest("UpgradeSchedule", "schedule")).Object["spec"].(map[string]any)
		delete(want, "target")
		if !reflect.DeepEqual(schedule["template"], want) || schedule["timeZone"] != "UTC" || schedule["startingDeadline"] != "1h" {
			t.Errorf("the smallest UpgradeSchedule became %v", schedule)
		}

		window := made(t, s, smallest("MaintenanceWindow", "window")).Object["spec"].(map[string]any)
		if window["controlPlane"] != "Whole" || window["prefetch"] != "Anytime" {
			t.Errorf("the smallest MaintenanceWindow became %v", window)
		}

		order := made(t, s, smallest("NodeUpgrade", "order"))
		if got := order.Object["spec"].(map[string]any)["rollback"]; got != "Auto" {
			t.Errorf("an order's rollback became %v", got)
		}
	})
}

// TestGoRoundTrip proves that a round trip through Go loses nothing, and changes no
// field that a rule protects.
func TestGoRoundTrip(t *testing.T) {
	s := serverOf(t, apiserver.Versions(t)[0])
	into := map[string]any{
		"ClusterUpgrade": &refitv1alpha1.ClusterUpgrade{}, "NodeUpgrade": &refitv1alpha1.NodeUpgrade{},
		"NodeReport": &refitv1alpha1.NodeReport{}, "ClusterRelease": &refitv1alpha1.ClusterRelease{},
		"BackupStore": &refitv1alpha1.BackupStore{}, "EtcdBackup": &refitv1alpha1.EtcdBackup{},
		"Component": &refitv1alpha1.Component{}, "ComponentUpgrade": &refitv1alpha1.ComponentUpgrade{},
		"UpgradeSchedule": &refitv1alpha1.UpgradeSchedule{}, "MaintenanceWindow": &refitv1alpha1.MaintenanceWindow{},
	}
	for _, kind := range sorted(definitions(t)) {
		for _, largest := range []bool{false, true} {
			stored := made(t, s, sampler{kind: kind, largest: largest}.object(t, "round"))
			typed := into[kind]
			must(t, runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(stored.Object, typed, true))
			back, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
			must(t, err)
			for _, part := range []string{"spec", "status"} {
				if !reflect.DeepEqual(back[part], stored.Object[part]) {
					t.Errorf("%s, largest %v: the %s became\n%v\nand was\n%v", kind, largest, part, back[part], stored.Object[part])
				}
			}
			into[kind] = reflect.New(reflect.TypeOf(typed).Elem()).Interface()
			deleteNow(t, s, stored)
		}
	}
}
