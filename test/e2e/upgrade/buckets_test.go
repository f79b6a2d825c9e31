//go:build e2e

package upgrade

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"filippo.io/age"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

// TestBackupBuckets backs up a cluster under write load to MinIO, to a server for the API of Google
// Cloud Storage and to a directory. Then the store fails in several ways: no failed backup is ever
// reported as taken.
func TestBackupBuckets(t *testing.T) {
	s := newSite(t, cluster.Spec{Name: "upbucket", ControlPlanes: 3, Workers: 2, Kubernetes: older}, inCluster)
	_, err := s.Kubectl(t.Context(), nil, "create", "secret", "generic", "planted", "--from-literal=key="+plantedSecret)
	must(t, err)
	b := newBuckets(t, s, func(t *testing.T) string { t.Helper(); return t.TempDir() })
	s.writes(t)
	for _, kind := range []string{"s3", "gcs", "path"} {
		t.Run(kind, func(t *testing.T) { b.testKept(t, kind) })
	}
	t.Run("the network is cut", b.testCut)
	t.Run("the store drops objects", b.testDropped)
	t.Run("the store is full", b.testFull)
}

// buckets is a cluster with one BackupStore of each kind.
type buckets struct {
	*site

	identity *age.X25519Identity
	proxy    *bed.Proxy // in front of MinIO
	minio    bed.ObjectStore
	gcs      bed.ObjectStore
}

// unlimited is more than any test sends.
const unlimited = 1 << 40

// newBuckets starts the object stores on this machine's end of the cluster's bridge, pins them on
// every control plane host and creates their BackupStores.
func newBuckets(t *testing.T, s *site, disk func(*testing.T) string) *buckets {
	t.Helper()
	host := s.Gateway().String()
	b := &buckets{site: s, minio: bed.StartMinIO(t, host, disk(t)), gcs: bed.StartGCS(t, host, disk(t))}
	b.proxy = bed.NewProxy(t, host, b.minio.Address, unlimited, false)
	var err error
	b.identity, err = age.GenerateX25519Identity()
	must(t, err)
	b.pin(t)
	for _, credentials := range []string{"bucket", "none"} {
		args := []string{"create", "secret", "generic", credentials, "--namespace=" + refitv1alpha1.BackupNamespace, "--type=" + refitv1alpha1.BackupCredentialsType}
		if credentials == "bucket" {
			args = append(args, "--from-literal=accessKey="+bed.AccessKey, "--from-literal=secretKey="+bed.SecretKey)
		}
		_, err := s.Kubectl(t.Context(), nil, args...)
		must(t, err)
	}
	for kind, where := range map[string]string{
		"s3":   fmt.Sprintf("s3: {endpoint: 'http://%s', bucket: %s, pathStyle: true}, credentials: bucket", b.proxy.Address, bed.Bucket),
		"gcs":  fmt.Sprintf("gcs: {endpoint: 'http://%s', bucket: %s}, credentials: none", b.gcs.Address, bed.Bucket),
		"path": fmt.Sprintf("path: {directory: %s}", backupDir),
	} {
		manifest := fmt.Sprintf(`{apiVersion: refit.dev/v1alpha1, kind: BackupStore, metadata: {name: %s},
spec: {%s, prefix: upbucket, recipients: [%s], keep: {last: 2}}}`, kind, where, b.identity.Recipient())
		_, err := s.Kubectl(t.Context(), strings.NewReader(manifest), "apply", "--filename=-")
		must(t, err)
	}
	return b
}

// pin allows the recipient and the locations on every control plane host.
func (b *buckets) pin(t *testing.T) {
	t.Helper()
	pins := fmt.Sprintf("recipients: [%s]\nlocations: ['http://%s/%[3]s', 'gs+http://%[4]s/%[3]s', %[5]s]\n",
		b.identity.Recipient(), b.proxy.Address, bed.Bucket, b.gcs.Address, backupDir)
	bed.OnNodes(t, b.OfRole(cluster.RoleControlPlane), func(ctx context.Context, n *cluster.Node) error {
		if _, err := n.Exec(ctx, "mkdir", "-p", backupDir, "/etc/refit/backup"); err != nil {
			return err
		}
		if err := bed.WriteOn(ctx, n, backupIdentity, b.identity.String()+"\n"); err != nil {
			return err
		}
		return bed.WriteOn(ctx, n, "/etc/refit/backup/stores.yaml", pins)
	})
}

// writes creates, changes and deletes objects until the test ends.
func (s *site) writes(t *testing.T) {
	t.Helper()
	done := make(chan int)
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		objects := s.Client.CoreV1().ConfigMaps(metav1.NamespaceDefault)
		written := 0
		for ; ctx.Err() == nil; written++ {
			object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("load-%d", written%500)}, Data: map[string]string{"key": strings.Repeat("x", 4096)}}
			if _, err := objects.Create(ctx, object, metav1.CreateOptions{}); err != nil {
				_ = objects.Delete(ctx, object.Name, metav1.DeleteOptions{})
			}
		}
		done <- written
	}()
	t.Cleanup(func() { stop(); t.Logf("%d writes beside the backups", <-done) })
}

// testKept takes three backups, of which the store keeps two, and verifies the last on its host and
// from this machine.
func (b *buckets) testKept(t *testing.T, kind string) {
	t.Helper()
	var name string
	for range 3 {
		begun := time.Now()
		name = b.create(t, kind)
		show(t, "backup_"+kind+"_drilled", time.Since(begun).Seconds(), "s")
	}
	found := b.backup(t, name)
	if found.Status.Drilled == nil || found.Status.ReadBack == nil {
		t.Errorf("got %+v", found.Status)
	}
	t.Logf("%s\n%s", b.RunRefit(t, "backup", "list"), b.RunRefit(t, "backup", "show", name))
	taker, err := b.Node(found.Status.Node)
	must(t, err)
	said, err := taker.Exec(t.Context(), "refit-agent", "backup", "verify", name, "--identity", backupIdentity)
	must(t, err)
	t.Logf("%s", said)
	if kind == "path" {
		return // each host has its own
	}
	file := filepath.Join(t.TempDir(), "identity")
	must(t, os.WriteFile(file, []byte(b.identity.String()+"\n"), 0o600))
	t.Log(b.RunRefit(t, "backup", "verify", name, "--identity", file))
	t.Log(b.RunRefit(t, "backup", "prune", "--store", kind, "--yes"))
	b.onlyComplete(t, kind, 2)
}

// create takes a backup as a user does, and returns its name.
func (s *site) create(t *testing.T, store string) string {
	t.Helper()
	said := s.RunRefit(t, "backup", "create", "--store", store, "--output", "json")
	lines := strings.Split(strings.TrimSpace(said), "\n")
	var last cliv1alpha1.Backup
	must(t, json.Unmarshal([]byte(lines[len(lines)-1]), &last))
	t.Log(lines[len(lines)-1])
	return last.Name
}

// attemptPath matches the attempt of a backup in the path of a file of an object store, and its
// manifest.
var attemptPath = regexp.MustCompile(`upbucket/([0-9a-f-]{36}/[0-9]+)/(manifest)?`)

// onlyComplete requires that the files of an object store are those of so many backups, each with a
// manifest, and contain no plain text. 0 is any number.
func (b *buckets) onlyComplete(t *testing.T, kind string, want int) {
	t.Helper()
	complete := map[string]bool{}
	data := map[string]string{"s3": b.minio.Data, "gcs": b.gcs.Data}[kind]
	must(t, filepath.WalkDir(filepath.Join(data, bed.Bucket), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		name, err := url.PathUnescape(path)
		if err != nil {
			return err
		}
		if found := attemptPath.FindStringSubmatch(name); found != nil {
			complete[found[1]] = complete[found[1]] || found[2] != ""
		}
		content, err := os.ReadFile(path)
		if bytes.Contains(content, []byte(plantedSecret)) {
			t.Errorf("%s contains plain text", path)
		}
		return err
	}))
	for attempt, is := range complete {
		if !is {
			t.Errorf("%s: attempt %s has no manifest", kind, attempt)
		}
	}
	if len(complete) == 0 || want > 0 && len(complete) != want {
		t.Errorf("%s: %d attempts, want %d", kind, len(complete), want)
	}
}

// backup reads an EtcdBackup.
func (s *site) backup(t *testing.T, name string) *refitv1alpha1.EtcdBackup {
	t.Helper()
	text, err := s.Kubectl(t.Context(), nil, "get", "etcdbackup", name, "--output=json")
	must(t, err)
	found := &refitv1alpha1.EtcdBackup{}
	must(t, json.Unmarshal(text, found))
	return found
}
