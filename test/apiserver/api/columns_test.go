//go:build apiserver

package api

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"

	"github.com/refit-dev/refit/test/apiserver"
)

// TestColumns checks that a list of objects shows their progress.
func TestColumns(t *testing.T) {
	want := map[string]string{
		"ClusterUpgrade":    "Name=shown Ready=False From=v1.35.4 To=v1.36.3 Phase=Running Done=7",
		"NodeUpgrade":       "Name=shown Ready=False Release=v1.36.3 Permit=Apply Drain=Blocked Phase=Applying Step=kubelet-swap",
		"NodeReport":        "Name=shown Kubelet=v1.35.4 Containerd=2.1.4 Packages=Deb Etcd=3.6.5 Missing=3",
		"ClusterRelease":    "Name=shown Ready=True Kubernetes=v1.36.3 Verified=5",
		"BackupStore":       "Name=shown S3=<nil> GCS=<nil> Path=/mnt/backups IdentityProven=<nil> Keep=7",
		"Component":         "Name=shown Ready=True Installed=1.0.0 Offered=<nil> Owner=Helm",
		"ComponentUpgrade":  "Name=shown Ready=False From=1.0.0 To=2.0.0 Permit=Apply Phase=Applying Step=wave-all",
		"UpgradeSchedule":   "Name=shown Ready=True Follow=Patch Suspend=<nil> Next=2026-12-01T01:00:00Z Target=v1.36.4 Result=Started Last=",
		"MaintenanceWindow": `Name=shown Zone=Europe/Berlin Days=["Sat","Sun"] Start=02:00 Duration=4h`,
		"EtcdBackup":        "Name=shown Ready=True Store=offsite Node=cp-2 Attempt=1 Revision=4711 Size=8192",
	}
	ready := func(status string) []any {
		return []any{object{"type": "Ready", "status": status, "reason": "Shown", "message": "", "lastTransitionTime": now}}
	}
	more := map[string]fields{
		"UpgradeSchedule": {
			"status.nextScheduleTime": "2026-12-01T01:00:00Z", "status.lastScheduleTime": now, "status.lastResult": "Started",
			"status.target": object{"kubernetes": "v1.36.4", "message": "newer"}, "status.conditions": ready("True"),
		},
		"MaintenanceWindow": {"spec.open": list{object{"start": "02:00", "duration": "4h", "days": list{"Sat", "Sun"}}}},
		"BackupStore":       {"spec.keep": object{"last": int64(7)}},
		"EtcdBackup": {
			"status.node": "cp-2", "status.attempt": int64(1), "status.revision": int64(4711), "status.size": int64(8192), "status.readBack": now,
			"status.conditions": ready("True"),
		},
		"Component": {
			"status.owner": "Helm", "status.conditions": ready("True"),
			"status.installed": object{"version": "1.0.0", "namespace": "n", "name": "n", "revision": int64(1)},
		},
		"ComponentUpgrade": {
			"spec.permit": "Apply", "status.phase": "Applying", "status.step": "wave-all", "status.from": "1.0.0", "status.conditions": ready("False"),
		},
		"ClusterRelease": {"status.verifiedHosts": int64(5), "status.conditions": ready("True")},
		"ClusterUpgrade": {
			"status.phase": "Running", "status.message": "Draining w3", "status.nodes": object{"done": int64(7), "total": int64(9)},
			"status.conditions": ready("False"), "status.plan": object{"hash": hashA, "from": "v1.35.4", "to": "v1.36.3"},
		},
		"NodeUpgrade": {
			"spec.permit": "Apply", "status.drain": object{"phase": "Blocked", "sequence": int64(5)}, "status.phase": "Applying", "status.step": "kubelet-swap",
			"status.conditions": ready("False"),
			"status.error":      object{"class": "ManualInterventionRequired", "reason": "DiskFull", "message": "no room", "remedy": "make some", "at": now},
		},
		"NodeReport": {
			"status.versions": object{"kubelet": "v1.35.4", "containerd": "2.1.4"}, "status.packageKind": "Deb",
			"status.etcd": object{"name": "n", "version": "3.6.5"}, "status.missingArtifacts": int64(3), "status.observedTime": now,
		},
	}
	apiserver.EachVersion(t, func(t *testing.T, version string) {
		s := serverOf(t, version)
		for _, kind := range sorted(want) {
			made(t, s, changed(t, smallest(kind, "shown"), more[kind]))
			if got := row(t, s, kind); !strings.HasPrefix(got, want[kind]) {
				t.Errorf("%s shows\n%s\nand not\n%s", kind, got, want[kind])
			}
		}
	})
}

// row returns what `kubectl get` prints for the only object of a kind, without -o wide.
func row(t *testing.T, s *apiserver.Server, kind string) string {
	t.Helper()
	asker, err := discovery.NewDiscoveryClientForConfig(s.RESTConfig())
	must(t, err)
	raw, err := asker.RESTClient().Get().AbsPath("/apis/refit.dev/v1alpha1/"+strings.ToLower(kind)+"s").
		SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").DoRaw(t.Context())
	must(t, err)
	var table metav1.Table
	must(t, json.Unmarshal(raw, &table))
	if len(table.Rows) != 1 {
		t.Fatalf("there are %d objects of kind %s", len(table.Rows), kind)
	}
	var cells []string
	for i, column := range table.ColumnDefinitions {
		if column.Priority == 0 {
			cells = append(cells, fmt.Sprintf("%s=%v", column.Name, table.Rows[0].Cells[i]))
		}
	}
	return strings.Join(cells, " ")
}

func TestShortNamesAndCategory(t *testing.T) {
	want := map[string][]string{
		"clusterupgrades": {"cu", "cup"}, "nodeupgrades": {"nu", "nup"}, "nodereports": {"nr", "nrep"}, "clusterreleases": {"crel"},
		"backupstores": {"bst"}, "etcdbackups": {"eb"}, "components": {"comp"}, "componentupgrades": {"compup"},
		"upgradeschedules": {"us"}, "maintenancewindows": {"mw"},
	}
	s := serverOf(t, apiserver.Versions(t)[0])
	asker, err := discovery.NewDiscoveryClientForConfig(s.RESTConfig())
	must(t, err)
	found, err := asker.ServerResourcesForGroupVersion("refit.dev/v1alpha1")
	must(t, err)
	for _, resource := range found.APIResources {
		if strings.Contains(resource.Name, "/") {
			continue
		}
		if !reflect.DeepEqual(resource.ShortNames, want[resource.Name]) || !reflect.DeepEqual(resource.Categories, []string{"refit"}) || resource.Namespaced {
			t.Errorf("%s: short names %v, categories %v, namespaced %v", resource.Name, resource.ShortNames, resource.Categories, resource.Namespaced)
		}
		delete(want, resource.Name)
	}
	if len(want) > 0 {
		t.Errorf("not served: %v", want)
	}
}
