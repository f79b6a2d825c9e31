package restore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"filippo.io/age"
	"go.etcd.io/bbolt"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	agentbackup "github.com/refit-dev/refit/internal/agent/backup"
	enginebackup "github.com/refit-dev/refit/internal/engine/backup"
	"github.com/refit-dev/refit/internal/engine/backup/store"
	"github.com/refit-dev/refit/internal/engine/rehearsal"
	"github.com/refit-dev/refit/internal/upgrade/backup"
	"github.com/refit-dev/refit/internal/upgrade/restore"
)

const (
	clusterUID = "11111111-2222-4333-8444-555555555555"
	backupUID  = "0a1b2c3d-0000-4000-8000-00000000000a"
)

// bed is a cluster of simulated control plane hosts that share a store with one backup.
type bed struct {
	dir      string // of the store
	identity *age.X25519Identity
	stored   enginebackup.Stored
	hosts    map[string]*machine
	// running is the data with which etcd runs, by member.
	running map[string]string
	// learner is the member that is being replaced.
	learner string
}

// empty is the data of a member that has started without any.
const empty = "empty"

// machine is a simulated host. Its etcd runs while its manifest is there, with the data of that
// time.
type machine struct {
	bed    *bed
	name   string
	root   string
	events []string
	// refusals counts the requests to replace the member: etcd refuses the first one.
	refusals int
	// withoutIdentity is set if the operator has removed the identity.
	withoutIdentity bool
	// etcdutl is the error of etcdutl.
	etcdutl error
	// revives is set if the kubelet starts etcd once more after its manifest is removed.
	revives bool
	// unready is how often the API server is not ready yet.
	unready  int
	progress []string
	// violation is the first observation that must never happen.
	violation string
}

var now = time.Date(2026, 5, 4, 3, 0, 0, 0, time.UTC)

func newBed(t *testing.T, members ...string) *bed {
	t.Helper()
	identity, err := age.GenerateX25519Identity()
	must(t, err)
	b := &bed{dir: t.TempDir(), identity: identity, hosts: map[string]*machine{}, running: map[string]string{}}
	b.stored, err = enginebackup.Store(t.Context(), b.target(t), enginebackup.Request{
		ID: backup.ID{UID: backupUID, Attempt: 1}, ClusterUID: clusterUID, Time: now.Add(-time.Hour), EtcdVersion: "3.6.6",
		Recipients: []string{identity.Recipient().String()}, Revision: func() int64 { return 3 },
		Sources: []enginebackup.Source{{Part: backup.PartEtcd, Write: func(_ context.Context, to enginebackup.Sink) error {
			_, err := to.Write(snapshot(t, members))
			return err
		}}},
	})
	must(t, err)
	for _, name := range members {
		m := &machine{bed: b, name: name, root: t.TempDir()}
		b.hosts[name] = m
		must(t, os.MkdirAll(m.path("manifests"), 0o700))
		must(t, os.MkdirAll(m.path("etcd", "member"), 0o700))
		must(t, os.WriteFile(m.path("etcd", "member", "data"), []byte("broken"), 0o600))
		must(t, os.WriteFile(m.path("manifests", "etcd.yaml"), []byte(etcdManifest(name, m.path("etcd"))), 0o600))
		must(t, os.WriteFile(m.path("manifests", "kube-apiserver.yaml"), []byte("kind: Pod"), 0o600))
	}
	return b
}

func (b *bed) target(t *testing.T) enginebackup.Target {
	t.Helper()
	opened, err := store.OpenPath(b.dir)
	must(t, err)
	return enginebackup.Target{Store: opened}
}

func (m *machine) path(name ...string) string {
	return filepath.Join(append([]string{m.root}, name...)...)
}

func (m *machine) site() Site {
	return Site{Dir: m.path("restores"), Manifests: m.path("manifests"), MachineID: "0123456789abcdef0123456789abcdef", BootID: "boot"}
}

// desk returns the desk of a host, which dies at a point if one is named.
func (m *machine) desk(t *testing.T, dieAt string) *Desk {
	t.Helper()
	return &Desk{
		BackedUp: agentbackup.PathsOf,
		Site:     m.site(), Machine: m, For: func(string) {}, Now: now, Exclusive: true, Progress: func(message string) { m.progress = append(m.progress, message) },
		Records: backup.Records{
			Stores: map[string]refitv1alpha1.BackupStoreSpec{"local": {Path: &refitv1alpha1.PathStore{Directory: "/backups"}}},
			Backups: []backup.Record{
				{ClusterUID: clusterUID, Name: "nightly", UID: backupUID, Attempt: 1, Store: "local", Digest: m.bed.stored.Digest, Revision: 3},
				{ClusterUID: clusterUID, Name: "older", UID: "0a1b2c3d-0000-4000-8000-00000000000b", Attempt: 1, Store: "local", Node: "cp-3", Digest: "sha256:older", Revision: 2},
			},
		},
		Open: func(*refitv1alpha1.BackupStoreSpec) (enginebackup.Target, error) { return m.bed.target(t), nil },
		Point: func(name string) {
			if _, runs := m.bed.running[m.name]; name == "restore-move-data/aside" && (runs || m.has("etcd") || m.has("kube-apiserver")) {
				m.violate("the data is moved while etcd or the API server runs")
			}
			if _, runs := m.bed.running[m.name]; name == "restore-cancel/away" && runs && m.movedAside() {
				m.violate("the restored data is moved away while etcd runs")
			}
			if name == dieAt {
				panic(dead(name))
			}
			m.events = append(m.events, name)
		},
	}
}

// movedAside reports whether the old data is not in its place.
func (m *machine) movedAside() bool {
	found, _ := filepath.Glob(m.path("etcd", "refit-restore-*", "old"))
	return len(found) > 0
}

type dead string

var quiet = slog.New(slog.DiscardHandler)

// restore runs the command on a host, and reports whether it died at the point.
func (m *machine) restore(t *testing.T, request Request, dieAt string) (p Prepared, died bool, err error) {
	t.Helper()
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(dead); !ok {
				panic(r)
			}
			p.Restore.Close()
			died = true
		}
	}()
	if !m.withoutIdentity {
		request.Identities = []age.Identity{m.bed.identity}
	}
	if p, err = m.desk(t, dieAt).Prepare(t.Context(), request); err != nil {
		return p, false, err
	}
	if len(p.Decision.Refusals) > 0 {
		return p, false, errors.Join(p.Discard(), errors.New(p.Decision.Refusals[0].Reason))
	}
	p.Restore.Timeouts = Timeouts{Etcd: time.Second, APIServer: time.Second, Poll: time.Millisecond}
	must(t, p.Restore.Begin())
	defer p.Restore.Close()
	err = p.Restore.Execute(t.Context())
	return p, false, err
}

func (m *machine) has(component string) bool { return exists(m.path("manifests", component+".yaml")) }

func (m *machine) violate(format string, args ...any) {
	if m.violation == "" {
		m.violation = fmt.Sprintf(format, args...)
	}
}

// AwaitStopped ends the component.
func (m *machine) AwaitStopped(_ context.Context, component string) error {
	if m.has(component) {
		m.violate("%s is awaited while its manifest is there", component)
	}
	if component == "etcd" {
		if m.has("kube-apiserver") {
			m.violate("etcd stops before the API server")
		}
		delete(m.bed.running, m.name)
	}
	return nil
}

// RestartKubelet starts etcd once more, if the previous kubelet was just doing so.
func (m *machine) RestartKubelet(context.Context) error {
	if m.revives {
		m.bed.running[m.name] = "revived"
	}
	return nil
}

// ReplaceMember adds a learner.
func (m *machine) ReplaceMember(_ context.Context, _ []byte, self restore.Member, _ []restore.Member) error {
	if exists(m.path("etcd", "member")) {
		m.violate("a member with data is replaced")
	}
	if m.refusals++; m.refusals == 1 {
		return errors.New("etcdserver: unhealthy cluster")
	}
	m.bed.learner = self.Name
	return nil
}

func (m *machine) InitialCluster(context.Context, []byte, restore.Member, []restore.Member) (string, error) {
	return "all=https://all:2380", nil
}

// Promote fails until the learner has started and copied the data.
func (m *machine) Promote(_ context.Context, _ []byte, self restore.Member, _ []restore.Member) error {
	text, err := os.ReadFile(m.path("manifests", "etcd.yaml"))
	if err != nil || !strings.Contains(string(text), "--initial-cluster-state=existing") {
		return errors.New("the learner has not started")
	}
	for name := range m.bed.hosts {
		if data := m.bed.running[name]; name != self.Name && data != "" && data != "broken" {
			m.bed.running[self.Name] = data
		}
	}
	return nil
}

// Running starts etcd with the data of now.
func (m *machine) Running(_ context.Context, component string) error {
	if !m.has(component) {
		return errors.New("it has no manifest")
	}
	data, err := os.ReadFile(m.path("etcd", "member", "data"))
	if err != nil {
		return err
	}
	m.bed.running[m.name] = string(data)
	return nil
}

// Etcdutl writes the arguments as the restored data.
func (m *machine) Etcdutl(_ context.Context, u rehearsal.Etcdutl) error {
	if m.etcdutl != nil {
		return m.etcdutl
	}
	args := u.Args(u.Snapshot, u.Dir)
	dir := ""
	var data []string
	for _, arg := range args {
		if rest, ok := strings.CutPrefix(arg, "--data-dir="); ok {
			dir = rest
		}
		if strings.HasPrefix(arg, "--initial-cluster") || strings.HasPrefix(arg, "--bump-revision") {
			data = append(data, arg)
		}
	}
	if exists(dir) {
		return errors.New("the directory is there")
	}
	if err := os.MkdirAll(filepath.Join(dir, "member"), 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "member", "data"), []byte(strings.Join(data, " ")), 0o600)
}

// Serving returns the members that run with the same data, if they have the quorum.
func (m *machine) Serving(_ context.Context, _ []byte, _ string, members []restore.Member) []string {
	byData := map[string][]string{}
	for name, data := range m.bed.running {
		byData[data] = append(byData[data], name)
	}
	for data, names := range byData {
		if data != "broken" && len(names) > len(members)/2 {
			slices.Sort(names)
			return names
		}
	}
	return nil
}

// Revision is 1 after etcd has started without data, and else beyond that of the backup.
func (m *machine) Revision(context.Context, []byte) (int64, error) {
	if m.bed.running[m.name] == empty {
		return 1, nil
	}
	return 100, nil
}

// Live returns the members while the others serve.
func (m *machine) Live(ctx context.Context, manifest []byte, self string) ([]restore.Member, string, error) {
	var members []restore.Member
	for _, name := range slices.Sorted(maps.Keys(m.bed.hosts)) {
		members = append(members, restore.Member{Name: name, PeerURLs: []string{"https://" + name + ":2380"}})
	}
	if len(m.Serving(ctx, manifest, self, members)) == 0 {
		return nil, "", errors.New("no other member of etcd serves")
	}
	return members, clusterUID, nil
}

func (m *machine) APIServerReady(context.Context) error {
	if m.unready > 0 {
		m.unready--
		return errors.New("it is not ready")
	}
	if !m.has("kube-apiserver") || len(m.bed.running) < len(m.bed.hosts) {
		return errors.New("it is not ready")
	}
	for name, other := range m.bed.hosts {
		if m.bed.running[name] == "broken" && other.has("kube-apiserver") {
			m.violate("the API server of %s starts while that of %s serves the lost data", m.name, name)
		}
	}
	return nil
}

func (m *machine) ClusterUID(context.Context) (string, error) {
	if m.bed.running[m.name] == empty {
		return "", errors.New("the namespace kube-system does not exist")
	}
	return clusterUID, nil
}

func etcdManifest(name, data string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Pod
metadata: {name: etcd, namespace: kube-system, labels: {component: etcd}}
spec:
  containers:
  - name: etcd
    image: registry.k8s.io/etcd:3.6.6-0
    command: [etcd, --name=%[1]s, --data-dir=/var/lib/etcd, --initial-advertise-peer-urls=https://%[1]s:2380]
    volumeMounts: [{name: data, mountPath: /var/lib/etcd}]
  volumes: [{name: data, hostPath: {path: %[2]s}}]
`, name, data)
}

// snapshot is a snapshot with three revisions and these members, as etcd streams it.
func snapshot(t *testing.T, members []string) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "db")
	db, err := bbolt.Open(path, 0o600, nil)
	must(t, err)
	must(t, db.Update(func(tx *bbolt.Tx) error {
		keys, err := tx.CreateBucket([]byte("key"))
		for revision := uint64(1); err == nil && revision <= 3; revision++ {
			err = keys.Put(append(binary.BigEndian.AppendUint64(nil, revision), append([]byte("_"), make([]byte, 8)...)...), bytes.Repeat([]byte("x"), 3000))
		}
		if err != nil {
			return err
		}
		bucket, err := tx.CreateBucket([]byte("members"))
		for i, name := range members {
			var text []byte
			if err == nil {
				text, err = json.Marshal(map[string]any{"id": i, "name": name, "peerURLs": []string{"https://" + name + ":2380"}})
			}
			if err == nil {
				err = bucket.Put(fmt.Appendf(nil, "%x", i), text)
			}
		}
		return err
	}))
	must(t, db.Close())
	content, err := os.ReadFile(path)
	must(t, err)
	sum := sha256.Sum256(content)
	return append(content, sum[:]...)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
