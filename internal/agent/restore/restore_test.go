package restore

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/node"
	"github.com/refit-dev/refit/internal/upgrade/restore"
)

// serves fails the test unless every host runs the restored data, and the old data is kept.
func (b *bed) serves(t *testing.T, run restore.Run) {
	t.Helper()
	data := ""
	for name, m := range b.hosts {
		if m.violation != "" {
			t.Errorf("%s: %s", name, m.violation)
		}
		if !m.has("etcd") || !m.has("kube-apiserver") || !strings.Contains(b.running[name], run.Token()) {
			t.Errorf("%s: etcd %t, API server %t, data %q", name, m.has("etcd"), m.has("kube-apiserver"), b.running[name])
		}
		if data != "" && b.running[name] != data {
			t.Errorf("%s runs other data: %q and %q", name, b.running[name], data)
		}
		data = b.running[name]
		old, err := os.ReadFile(m.path("etcd", "refit-restore-"+run.String(), "old", "data"))
		if err != nil || string(old) != "broken" {
			t.Errorf("%s: the old data is %q, %v", name, old, err)
		}
		if exists(m.site().Snapshot(run)) {
			t.Errorf("%s: the decrypted snapshot is left", name)
		}
		if _, open, err := m.site().Open(); open || err != nil {
			t.Errorf("%s: the restore is open: %v", name, err)
		}
	}
}

func TestRestoreOfTheOnlyMember(t *testing.T) {
	b := newBed(t, "cp-1")
	p, _, err := b.hosts["cp-1"].restore(t, Request{}, "")
	must(t, err)
	if p.Restore.Plan.Situation != restore.Single {
		t.Errorf("%s", p.Restore.Plan.Situation)
	}
	b.serves(t, p.Restore.Plan.Run)
}

// After the data was deleted, the kubelet restarts etcd, which starts without any and serves. The
// API server creates the namespaces later.
func TestRestoreOfAMemberThatStartedWithoutData(t *testing.T) {
	b := newBed(t, "cp-1")
	b.running["cp-1"] = empty
	p, _, err := b.hosts["cp-1"].restore(t, Request{}, "")
	must(t, err)
	b.serves(t, p.Restore.Plan.Run)
}

// F44: each command prints the next one, and API servers start only after the last member serves.
func TestF44APIServersStartAfterTheLastMember(t *testing.T) {
	b := newBed(t, "cp-1", "cp-2", "cp-3")
	p, _, err := b.hosts["cp-1"].restore(t, Request{}, "")
	for _, next := range []string{"cp-2", "cp-3"} {
		if !errors.Is(err, ErrPending) || p.Restore.Plan.Remaining()[0] != next {
			t.Fatalf("before %s: %v, remaining %v", next, err, p.Restore.Plan.Remaining())
		}
		if b.hosts["cp-1"].has("kube-apiserver") || !b.hosts["cp-1"].has("etcd") {
			t.Fatalf("before %s: the API server runs, or etcd does not", next)
		}
		p, _, err = b.hosts[next].restore(t, Request{Backup: p.Restore.Plan.Backup, Digest: p.Restore.Plan.Digest, Run: p.Restore.Plan.Run, After: p.Restore.Plan.Restored()}, "")
	}
	must(t, err)
	for _, name := range []string{"cp-1", "cp-2"} {
		m := b.hosts[name]
		must(t, Finish(t.Context(), &Restore{Site: m.site(), Machine: m, Progress: func(string) {}, Timeouts: DefaultTimeouts()}, quiet))
	}
	b.serves(t, p.Restore.Plan.Run)
}

// While the others have the quorum, no member gets the data of a backup.
func TestLostMemberIsReplacedWhileTheOthersServe(t *testing.T) {
	lose := func(t *testing.T) *bed {
		t.Helper()
		b := newBed(t, "cp-1", "cp-2", "cp-3")
		b.running["cp-2"], b.running["cp-3"] = "live", "live"
		return b
	}
	reference := lose(t)
	_, _, err := reference.hosts["cp-1"].restore(t, Request{}, "")
	must(t, err)
	for _, point := range append([]string{""}, reference.hosts["cp-1"].events...) {
		t.Run(strings.ReplaceAll(point, "/", " "), func(t *testing.T) {
			b := lose(t)
			m := b.hosts["cp-1"]
			m.restoreKilledAt(t, point)
			if m.violation != "" || b.learner != "cp-1" || b.running["cp-1"] != "live" || !m.has("kube-apiserver") {
				t.Errorf("%s, learner %q, data %q, API server %t", m.violation, b.learner, b.running["cp-1"], m.has("kube-apiserver"))
			}
		})
	}
}

// restoreKilledAt restores a host, killed at the point if there is one, and continues then.
func (m *machine) restoreKilledAt(t *testing.T, point string) {
	t.Helper()
	_, died, err := m.restore(t, Request{}, point)
	if err != nil || died != (point != "") {
		t.Fatalf("died %t, %v", died, err)
	}
	if died {
		_, _, err = m.restore(t, Request{}, "")
		must(t, err)
	}
}

// A member that copies the data of the others needs nothing of a backup, at no point.
func TestReplacedMemberNeedsNoIdentity(t *testing.T) {
	lose := func(t *testing.T) *machine {
		t.Helper()
		b := newBed(t, "cp-1", "cp-2", "cp-3")
		b.running["cp-2"], b.running["cp-3"] = "live", "live"
		b.hosts["cp-1"].withoutIdentity = true
		must(t, os.RemoveAll(b.dir)) // nor the store
		return b.hosts["cp-1"]
	}
	reference := lose(t)
	p, _, err := reference.restore(t, Request{}, "")
	must(t, err)
	if plan := p.Restore.Plan; plan.Situation != restore.Replace || plan.Backup != "" || plan.ClusterUID != clusterUID {
		t.Errorf("plan %+v", plan)
	}
	for _, point := range append([]string{""}, reference.events...) {
		t.Run(strings.ReplaceAll(point, "/", " "), func(t *testing.T) {
			m := lose(t)
			m.restoreKilledAt(t, point)
			if m.violation != "" || m.bed.learner != "cp-1" || m.bed.running["cp-1"] != "live" || !m.has("kube-apiserver") {
				t.Errorf("%s, learner %q, data %q, API server %t", m.violation, m.bed.learner, m.bed.running["cp-1"], m.has("kube-apiserver"))
			}
		})
	}
}

func TestEveryOtherRestoreNeedsTheIdentity(t *testing.T) {
	for name, c := range map[string]struct{ members, serving []string }{
		"the only member":                 {[]string{"cp-1"}, nil},
		"all members are lost":            {[]string{"cp-1", "cp-2", "cp-3"}, nil},
		"one other member runs":           {[]string{"cp-1", "cp-2", "cp-3"}, []string{"cp-2"}},
		"this member serves with another": {[]string{"cp-1", "cp-2", "cp-3"}, []string{"cp-1", "cp-2"}},
	} {
		b := newBed(t, c.members...)
		for _, member := range c.serving {
			b.running[member] = "live"
		}
		m := b.hosts["cp-1"]
		m.withoutIdentity = true
		if _, _, err := m.restore(t, Request{}, ""); err == nil || !strings.Contains(err.Error(), "--identity=FILE") {
			t.Errorf("%s: %v", name, err)
		}
		if plan, open, err := m.site().Open(); open || err != nil {
			t.Errorf("%s: %s is open, %v", name, plan.Run, err)
		}
	}
}

func TestAWrongIdentityHasARemedy(t *testing.T) {
	b := newBed(t, "cp-1")
	other, err := age.GenerateX25519Identity()
	must(t, err)
	desk, request := b.hosts["cp-1"].desk(t, ""), Request{Identities: []age.Identity{other}}
	_, err = desk.Prepare(t.Context(), request)
	f := node.FailureOf(err)
	if f.Reason != "IdentityWrong" || f.Class != refitv1alpha1.FailureManualIntervention || !strings.Contains(f.Error(), b.identity.Recipient().String()) ||
		!strings.Contains(f.Remedy, "refit-backup.key beside the release key") {
		t.Errorf("%+v", f)
	}
	if open, err := b.hosts["cp-1"].site().InProgress(); err != nil || open != nil {
		t.Errorf("%+v is open, %v", open, err)
	}
}

// A crash between any two effects is continued by the same command.
func TestRestoreContinuesAfterACrashAtEveryEffect(t *testing.T) {
	complete := newBed(t, "cp-1")
	_, _, err := complete.hosts["cp-1"].restore(t, Request{}, "")
	must(t, err)
	if len(complete.hosts["cp-1"].events) < 15 {
		t.Fatalf("only %d effects: %v", len(complete.hosts["cp-1"].events), complete.hosts["cp-1"].events)
	}
	for _, point := range complete.hosts["cp-1"].events {
		t.Run(strings.ReplaceAll(point, "/", " "), func(t *testing.T) {
			b := newBed(t, "cp-1")
			first, died, err := b.hosts["cp-1"].restore(t, Request{}, point)
			if err != nil || !died {
				t.Fatalf("it did not die: %v", err)
			}
			again, died, err := b.hosts["cp-1"].restore(t, Request{}, "")
			if err != nil || died {
				t.Fatal(err)
			}
			if plan, open, _ := b.hosts["cp-1"].site().Open(); open {
				t.Errorf("the run %s is open", plan.Run)
			}
			b.serves(t, again.Restore.Plan.Run)
			if first.Restore != nil && first.Restore.Plan.Run != again.Restore.Plan.Run {
				t.Errorf("run %s was continued as %s", first.Restore.Plan.Run, again.Restore.Plan.Run)
			}
		})
	}
}

func TestOnlyTheOpenRestoreContinues(t *testing.T) {
	b := newBed(t, "cp-1")
	_, died, err := b.hosts["cp-1"].restore(t, Request{}, "restore-move-data/aside")
	if err != nil || !died {
		t.Fatalf("%t %v", died, err)
	}
	if _, _, err := b.hosts["cp-1"].restore(t, Request{Backup: "ffffffff-0000-4000-8000-00000000000a/1"}, ""); err == nil {
		t.Error("another backup was restored meanwhile")
	}
	if _, _, err := b.hosts["cp-1"].restore(t, Request{Run: restore.NewRun(now.Add(1e10))}, ""); err == nil {
		t.Error("another run began meanwhile")
	}
	if _, _, err := b.hosts["cp-1"].restore(t, Request{Backup: backupUID + "/1"}, ""); err != nil {
		t.Errorf("the same command does not continue: %v", err)
	}
}

func TestRefusedRestoreChangesNothing(t *testing.T) {
	for reason, change := range map[string]func(*bed, *Request){
		restore.EtcdServes:        func(b *bed, _ *Request) { b.running["cp-1"] = "live" },
		restore.UpgradeInProgress: func(_ *bed, r *Request) { r.Host.OpenUpgrade = true },
	} {
		b := newBed(t, "cp-1")
		m, request := b.hosts["cp-1"], Request{}
		change(b, &request)
		before := tree(t, m.root)
		if _, _, err := m.restore(t, request, ""); err == nil || err.Error() != reason {
			t.Errorf("%s: %v", reason, err)
		}
		if after := tree(t, m.root); after != before {
			t.Errorf("%s: changed to\n%s\nfrom\n%s", reason, after, before)
		}
		request.Waived = []string{reason}
		if _, _, err := m.restore(t, request, ""); err != nil {
			t.Errorf("%s, waived: %v", reason, err)
		}
	}
}

func TestWorkersAreNotAskedForTheIdentity(t *testing.T) {
	m := newBed(t, "cp-1").hosts["cp-1"]
	m.withoutIdentity = true
	must(t, os.RemoveAll(m.path("manifests")))
	if _, _, err := m.restore(t, Request{}, ""); err == nil || !strings.Contains(err.Error(), "has no member of etcd") || strings.Contains(err.Error(), "--identity") {
		t.Errorf("got %v", err)
	}
}

func TestExternalEtcdIsNotRestored(t *testing.T) {
	server := func(endpoint string) string {
		return "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - name: kube-apiserver\n    command: [kube-apiserver, --etcd-servers=" + endpoint + "]\n"
	}
	for endpoint, refused := range map[string]bool{"http://10.0.0.9:2379": true, "http://127.0.0.1:2379": false} {
		b := newBed(t, "cp-1")
		m := b.hosts["cp-1"]
		must(t, os.Remove(m.path("manifests", "etcd.yaml")))
		must(t, os.WriteFile(m.path("manifests", "kube-apiserver.yaml"), []byte(server(endpoint)), 0o600))
		before := tree(t, m.root)
		_, _, err := m.restore(t, Request{}, "")
		if err == nil || strings.Contains(err.Error(), "which Refit does not restore: decrypt the snapshot") != refused {
			t.Errorf("%s: %v", endpoint, err)
		}
		if after := tree(t, m.root); after != before {
			t.Errorf("%s: changed to\n%s\nfrom\n%s", endpoint, after, before)
		}
	}
}

// F42: a truncated or corrupt backup is refused before anything of the host changes.
func TestF42CorruptBackupChangesNothing(t *testing.T) {
	b := newBed(t, "cp-1")
	m, size := b.hosts["cp-1"], b.stored.Manifest.Parts[0].Stored.Size
	before := tree(t, m.root)
	for at := int64(0); at < size; at += max(1, size/50) {
		for _, truncate := range []bool{false, true} {
			repair := b.damage(t, at, truncate)
			if _, _, err := m.restore(t, Request{}, ""); err == nil {
				t.Fatalf("a backup with a change at byte %d (truncated %t) was restored", at, truncate)
			}
			if after := tree(t, m.root); after != before {
				t.Fatalf("changed to\n%s\nfrom\n%s", after, before)
			}
			repair()
		}
	}
	if _, _, err := m.restore(t, Request{}, ""); err != nil {
		t.Errorf("the intact backup: %v", err)
	}
}

// F43: a backup without its manifest, or with a part that the store has lost, is never restored.
func TestF43IncompleteBackupIsNeverRestored(t *testing.T) {
	for _, lose := range []string{"manifest-", "etcd.db"} {
		b := newBed(t, "cp-1")
		err := filepath.WalkDir(b.dir, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && strings.HasPrefix(entry.Name(), lose) {
				return os.Remove(path)
			}
			return err
		})
		must(t, err)
		if _, _, err := b.hosts["cp-1"].restore(t, Request{}, ""); err == nil {
			t.Errorf("a backup without %s was restored", lose)
		}
		if !b.hosts["cp-1"].has("kube-apiserver") {
			t.Error("the API server was stopped")
		}
	}
}

// damage flips a byte of the stored snapshot, or truncates it there. It returns the inverse.
func (b *bed) damage(t *testing.T, at int64, truncate bool) (repair func()) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(b.dir, backupUID, "1", "etcd.db*"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%v %v", found, err)
	}
	intact, err := os.ReadFile(found[0])
	must(t, err)
	damaged := bytes.Clone(intact)
	at = min(at, int64(len(intact))-1)
	if damaged[at] ^= 0x40; truncate {
		damaged = intact[:at]
	}
	must(t, os.WriteFile(found[0], damaged, 0o600))
	return func() { must(t, os.WriteFile(found[0], intact, 0o600)) }
}

// tree lists all files below a directory with their content.
func tree(t *testing.T, root string) string {
	t.Helper()
	var all []string
	must(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		all = append(all, path+" "+string(text))
		return err
	}))
	return strings.Join(all, "\n")
}
