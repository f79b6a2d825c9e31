package backup

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"filippo.io/age"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/backup"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// cluster serves the objects of the bed to the administrator of a host.
func (b *bed) cluster(t *testing.T) *Cluster {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		const refit, put = "/apis/refit.dev/v1alpha1/", "PUT "
		named := func(object metav1.TypeMeta, kind, version string) metav1.TypeMeta {
			object.Kind, object.APIVersion = kind, version
			return object
		}
		version := refitv1alpha1.GroupVersion.String()
		b.request.TypeMeta, b.store.TypeMeta = named(b.request.TypeMeta, "EtcdBackup", version), named(b.store.TypeMeta, "BackupStore", version)
		var answer any
		switch r.Method + " " + r.URL.Path {
		case "GET " + refit + "etcdbackups/nightly":
			answer = b.request
		case "GET " + refit + "etcdbackups":
			answer = refitv1alpha1.EtcdBackupList{TypeMeta: named(metav1.TypeMeta{}, "EtcdBackupList", version), Items: []refitv1alpha1.EtcdBackup{b.request}}
		case "GET " + refit + "clusterupgrades":
			answer = refitv1alpha1.ClusterUpgradeList{TypeMeta: named(metav1.TypeMeta{}, "ClusterUpgradeList", version), Items: b.upgrades}
		case "GET " + refit + "backupstores":
			items, _ := b.BackupStores(t.Context())
			answer = refitv1alpha1.BackupStoreList{TypeMeta: named(metav1.TypeMeta{}, "BackupStoreList", version), Items: items}
		case "GET " + refit + "backupstores/local":
			answer = b.store
		case put + refit + "backupstores/local/status":
			if err := json.NewDecoder(r.Body).Decode(&b.store); err != nil {
				t.Error(err)
			}
			answer = b.store
		case "PATCH " + refit + "etcdbackups/nightly/status":
			if err := json.NewDecoder(r.Body).Decode(&b.request); err != nil {
				t.Error(err)
			}
			answer = b.request
		case "GET /api/v1/namespaces/kube-system":
			answer = corev1.Namespace{TypeMeta: named(metav1.TypeMeta{}, "Namespace", "v1"), ObjectMeta: metav1.ObjectMeta{Name: "kube-system", UID: clusterUID}}
		case "GET /api/v1/namespaces/kube-system/pods":
			pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{clientURLs: "https://10.0.0.2:2379,https://cp-2:2379"}}}
			pod.Spec.NodeName = "cp-2"
			answer = corev1.PodList{TypeMeta: named(metav1.TypeMeta{}, "PodList", "v1"), Items: []corev1.Pod{pod, {}}}
		default:
			t.Errorf("unexpected %s %s", r.Method, r.URL.Path)
		}
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	dir := t.TempDir()
	pins, err := yaml.Marshal(b.pins)
	if err != nil {
		t.Fatal(err)
	}
	writeTree(t, dir, map[string]string{"stores.yaml": string(pins), "admin.conf": fmt.Sprintf(`apiVersion: v1
kind: Config
clusters: [{name: a, cluster: {server: %q}}]
contexts: [{name: a, context: {cluster: a}}]
current-context: a
`, server.URL)})
	return &Cluster{Kubeconfig: filepath.Join(dir, "admin.conf"), CredentialsDir: dir, PinsFile: filepath.Join(dir, "stores.yaml")}
}

// taken takes a backup and records it in the EtcdBackup, as the controller does.
func (b *bed) taken(t *testing.T, attempt int64) {
	t.Helper()
	got := b.take(t, attempt)
	if got.Phase != refitv1alpha1.BackupSucceeded {
		t.Fatalf("got %+v", got.Error)
	}
	b.request.Status.Attempt, b.request.Status.BackupResult = attempt, got.BackupResult
	b.request.Status.Object = backup.Key("prod", backup.ID{UID: backupUID, Attempt: int(attempt)}, backup.ManifestName(got.Digest))
}

func TestAHostVerifiesABackupAndProvesItsIdentity(t *testing.T) {
	b := newBed(t)
	b.taken(t, 1)
	c := b.cluster(t)
	if got, err := c.Verify(t.Context(), "nightly", nil); err != nil || got.Revision != 3 || got.IdentityProven || b.store.Status.Proven != nil {
		t.Errorf("without identity: %+v, %v", got, err)
	}
	other, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := c.Verify(t.Context(), "nightly", []age.Identity{other}); err == nil || b.store.Status.Proven != nil {
		t.Errorf("with the identity of another: %+v, %v", got, err)
	}
	if got, err := c.Verify(t.Context(), "nightly", []age.Identity{other, b.identity}); err != nil || !got.IdentityProven ||
		b.store.Status.Proven.Recipients[0] != b.identity.Recipient().String() || b.store.Status.Proven.Backup != "nightly" {
		t.Errorf("with its identity: %+v, %v", got, err)
	}
	b.request.Status.Deleted = &metav1.Time{Time: time.Now()}
	if got, err := c.Verify(t.Context(), "nightly", nil); err != nil || got.Deleted == nil {
		t.Errorf("marked as deleted: %+v, %v", got, err)
	}
	b.request.Status.Keys = 0
	b.request.Status.Revision = 4
	if got, err := c.Verify(t.Context(), "nightly", nil); err == nil {
		t.Errorf("with another revision: %+v", got)
	}
}

func TestAHostPrunesItsDirectory(t *testing.T) {
	b := newBed(t)
	b.taken(t, 1)
	b.taken(t, 2)
	b.store.Spec.Keep = &refitv1alpha1.BackupRetention{Last: 1}
	c := b.cluster(t)
	for _, deletes := range []bool{false, true} {
		expired, err := c.Prune(t.Context(), "local", time.Now(), deletes)
		if err != nil || len(expired) != 1 || expired[0].ID.Attempt != 1 {
			t.Fatalf("deletes %t: %+v, %v", deletes, expired, err)
		}
		left := false
		for path := range b.stored(t) {
			left = left || strings.HasPrefix(path, "prod/"+backupUID+"/1/")
		}
		if left == deletes {
			t.Errorf("deletes %t, and the objects are left: %t", deletes, left)
		}
	}
	if b.request.Status.Deleted != nil {
		t.Error("the EtcdBackup of another attempt is marked")
	}
	b.request.Status.Attempt, b.request.Status.Node, c.Node = 2, "cp-2", "cp-2"
	if err := c.MarkDeleted(t.Context(), "nightly", backup.ID{UID: backupUID, Attempt: 2}, time.Now()); err != nil || b.request.Status.Deleted == nil {
		t.Errorf("not marked: %v", err)
	}
	if err := os.WriteFile(c.PinsFile, []byte("recipients: []\nlocations: [/elsewhere]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Prune(t.Context(), "local", time.Now(), true); err == nil {
		t.Error("a store that the host does not allow is pruned")
	}
}

// Hosts may share a directory, and only the one that took a backup marks it.
func TestAHostLeavesTheBackupsOfOtherHosts(t *testing.T) {
	b := newBed(t)
	b.taken(t, 1)
	former := b.request
	b.taken(t, 2)
	former.Status.Node = "cp-1"
	b.request = former // the second one has no EtcdBackup
	b.store.Spec.Keep = &refitv1alpha1.BackupRetention{Last: 1}
	c := b.cluster(t)
	c.Node = "cp-2"
	for _, deletes := range []bool{false, true} {
		expired, err := c.Prune(t.Context(), "local", time.Now(), deletes)
		failure, is := errors.AsType[*node.Failure](err)
		if !is || failure.Reason != "BackupOfAnotherHost" || !strings.Contains(failure.Remedy, "`refit-agent backup prune local --yes` on cp-1") || len(expired) != 0 {
			t.Errorf("deletes %t: %+v, %v", deletes, expired, err)
		}
		if !b.attempts(t)["1"] || b.request.Status.Deleted != nil {
			t.Errorf("deletes %t: left %v, marked %v", deletes, b.attempts(t), b.request.Status.Deleted)
		}
	}
	c.Node = "cp-1"
	if expired, err := c.Prune(t.Context(), "local", time.Now(), true); err != nil || len(expired) != 1 || b.request.Status.Deleted == nil {
		t.Errorf("on its host: %+v, %v, marked %v", expired, err, b.request.Status.Deleted)
	}
}

func TestEndpointsOfEtcdAreThoseOfItsPods(t *testing.T) {
	got, err := newBed(t).cluster(t).EtcdEndpoints(t.Context())
	if err != nil || len(got) != 1 || !slices.Equal(got["cp-2"], []string{"https://10.0.0.2:2379", "https://cp-2:2379"}) {
		t.Errorf("%q %v", got, err)
	}
}
