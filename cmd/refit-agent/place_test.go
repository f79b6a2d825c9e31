package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/agent/settings"
	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// fakeService records the calls.
type fakeService struct {
	calls  []string
	onStop func() // called during Stop
}

func (f *fakeService) say(what string) error { f.calls = append(f.calls, what); return nil }

func (f *fakeService) Start(context.Context) error   { return f.say("start") }
func (f *fakeService) Restart(context.Context) error { return f.say("restart") }
func (f *fakeService) Forget(context.Context) error  { return f.say("forget") }
func (f *fakeService) Close()                        {}

func (f *fakeService) Stop(context.Context) error {
	if f.onStop != nil {
		f.onStop()
	}
	return f.say("stop")
}

// newSite is the root directory of a host without systemd.
func newSite(t *testing.T) (*site, *fakeService, fakeHost) {
	t.Helper()
	id, err := host.Identify()
	if err != nil {
		t.Skipf("this machine has no machine ID: %v", err)
	}
	root, service := t.TempDir(), &fakeService{}
	s := &site{root: root, settings: settings.File, service: service, cleanUp: func(context.Context, settings.Settings) error { return nil }}
	return s, service, fakeHost{machine: id.MachineID, dir: filepath.Join(root, "var/lib/refit")}
}

// newTestBundle is the content of a container: a binary, a unit, keys and settings.
func newTestBundle(t *testing.T, binary, given string, keys ...string) *bundle {
	t.Helper()
	b := &bundle{binary: []byte(binary), unit: unit}
	dir := t.TempDir()
	for i, key := range keys {
		fakeHost{}.write(t, filepath.Join(dir, fmt.Sprintf("%d.pem", i)), key)
	}
	if err := b.addKeysOf(fromCluster, dir); err != nil {
		t.Fatal(err)
	}
	b.overlay = func(s settings.Settings) (settings.Settings, error) { return s.Overlay([]byte(given)) }
	return b
}

func newPublicKey(t *testing.T) string {
	t.Helper()
	text, err := artifact.MarshalPublic(artifact.PublicOf(artifact.NewKey()).Key)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func place(t *testing.T, s *site, b *bundle) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := (&app{out: &out}).doPlace(t.Context(), s, b)
	return strings.ReplaceAll(out.String(), s.root, ""), err
}

func remove(t *testing.T, s *site) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := (&app{out: &out}).doRemove(t.Context(), s)
	return strings.ReplaceAll(out.String(), s.root, ""), err
}

// tree lists every file and directory below a root, with modes.
func tree(t *testing.T, root string) (out []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			out = append(out, fmt.Sprintf("%s %s", info.Mode(), strings.TrimPrefix(path, root)))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func wantCalls(t *testing.T, f *fakeService, want ...string) {
	t.Helper()
	if !slices.Equal(f.calls, want) {
		t.Errorf("calls: %v, want %v", f.calls, want)
	}
	f.calls = nil
}

func TestPlaceIsIdempotent(t *testing.T) {
	s, service, _ := newSite(t)
	key := newPublicKey(t)
	b := newTestBundle(t, "binary 1", "sources: [/srv/refit]\n", key)
	out, err := place(t, s, b)
	if err != nil || !strings.Contains(out, "Installed the agent: /etc/refit/keys/cluster.") || !strings.Contains(out, "/usr/local/bin/refit-agent") {
		t.Errorf("%v\n%s", err, out)
	}
	wantCalls(t, service, "stop", "restart")
	got := tree(t, s.root)
	for _, want := range []string{
		"drwx------ /etc/refit", "drwx------ /etc/refit/keys", "-rw------- /etc/refit/agent.yaml", "-rw-r--r-- " + unitFile, "-rwxr-xr-x " + binaryFile,
		"Lrwxrwxrwx " + bootLink,
	} {
		if !slices.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, strings.Join(got, "\n"))
		}
	}
	if pinned, err := artifact.LoadKeys(s.path(settings.Keys)); err != nil || len(pinned) != 1 {
		t.Errorf("%v %v", pinned, err)
	}
	before := files(t, s.root)
	out, err = place(t, s, b)
	if err != nil || out != "The agent is up to date\n" || files(t, s.root) != before {
		t.Errorf("second run: %v\n%s", err, out)
	}
	wantCalls(t, service, "start")
}

func TestPlaceReplacesOnlyDifferences(t *testing.T) {
	key, other := newPublicKey(t), newPublicKey(t)
	for name, c := range map[string]struct {
		binary, given string
		keys          []string
		says          []string
	}{
		"newer binary":           {"binary 2", "sources: [/srv/refit]\n", []string{key}, []string{binaryFile}},
		"another source":         {"binary 1", "sources: [/srv/new]\n", []string{key}, []string{settings.File}},
		"additional key":         {"binary 1", "sources: [/srv/refit]\n", []string{key, other}, []string{settings.Keys}},
		"another key":            {"binary 1", "sources: [/srv/refit]\n", []string{other}, []string{settings.Keys, "(removed)"}},
		"settings not mentioned": {"binary 2", "{}\n", []string{key}, []string{binaryFile}},
	} {
		t.Run(name, func(t *testing.T) {
			s, service, _ := newSite(t)
			if _, err := place(t, s, newTestBundle(t, "binary 1", "sources: [/srv/refit]\n", key)); err != nil {
				t.Fatal(err)
			}
			service.calls = nil
			out, err := place(t, s, newTestBundle(t, c.binary, c.given, c.keys...))
			if err != nil {
				t.Fatal(err)
			}
			if slices.Contains(c.says, settings.Keys) {
				wantCalls(t, service, "start") // a running agent reads the keys itself
			} else {
				wantCalls(t, service, "stop", "restart")
			}
			if strings.Count(out, ",") != len(c.says)-1 {
				t.Errorf("replaced other files than %v: %s", c.says, out)
			}
			for _, path := range c.says {
				if !strings.Contains(out, path) {
					t.Errorf("%s is not mentioned: %s", path, out)
				}
			}
		})
	}
}

// The cluster must not remove what an operator configured on a host.
func TestPlaceKeepsManualSettingsAndKeys(t *testing.T) {
	s, _, _ := newSite(t)
	mine := s.path(settings.Keys + "/mine.pem")
	if err := os.MkdirAll(filepath.Dir(mine), 0o700); err != nil {
		t.Fatal(err)
	}
	fakeHost{}.write(t, mine, newPublicKey(t))
	fakeHost{}.write(t, s.path(settings.File), "# slow disk\nreservedDiskMiB: 128\nsources: [/srv/old]\n")
	for _, keys := range [][]string{{newPublicKey(t)}, {newPublicKey(t)}, nil} {
		if _, err := place(t, s, newTestBundle(t, "binary", "sources: [/srv/refit]\n", keys...)); err != nil {
			t.Fatal(err)
		}
		pinned, err := artifact.LoadKeys(s.path(settings.Keys))
		if err != nil || len(pinned) != 1+len(keys) || !exists(mine) {
			t.Errorf("%d keys are pinned, %v", len(pinned), err)
		}
	}
	got, err := s.load()
	if err != nil || got.ReservedDiskMiB != 128 || !slices.Equal(got.Sources, []string{"/srv/refit"}) {
		t.Errorf("%v %+v", err, got)
	}
	before, err := os.ReadFile(s.path(settings.File))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := place(t, s, newTestBundle(t, "binary 2", "sources: [/srv/refit]\nreservedDiskMiB: 128\n")); err != nil {
		t.Fatal(err)
	}
	if after, err := os.ReadFile(s.path(settings.File)); err != nil || !bytes.Equal(before, after) {
		t.Errorf("equivalent settings were rewritten: %v", err)
	}
}

func TestPlaceRefusesInvalidBundles(t *testing.T) {
	key := newPublicKey(t)
	for name, c := range map[string]struct {
		given string
		keys  []string
		says  string
	}{
		"no key":                 {"{}", nil, "no key is pinned"},
		"unknown setting":        {"script: x\n", []string{key}, "the settings for this host are not valid"},
		"invalid setting":        {"reservedDiskMiB: 0\n", []string{key}, "the settings for this host are not valid"},
		"unknown kind of source": {"sources: ['ftp://x/y']\n", []string{key}, "is not a source"},
	} {
		t.Run(name, func(t *testing.T) {
			s, service, _ := newSite(t)
			_, err := place(t, s, newTestBundle(t, "binary", c.given, c.keys...))
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want %q in it", err, c.says)
			}
			wantCalls(t, service)
			if got := tree(t, s.root); len(got) > 0 {
				t.Errorf("leftovers:\n%s", strings.Join(got, "\n"))
			}
		})
	}
}

// openUpgrade puts a host in the middle of an upgrade.
func openUpgrade(t *testing.T, h fakeHost) {
	t.Helper()
	h.journal(t, prepared()...)
	h.remembers(t, node.HostState{Format: node.HostStateFormat, MachineID: h.machine, Sequence: 12, Epoch: 2, Open: upgradeName})
}

func TestAgentIsNotChangedDuringAnUpgrade(t *testing.T) {
	key := newPublicKey(t)
	for name, touch := range map[string]func(*testing.T, *site) (string, error){
		"placed": func(t *testing.T, s *site) (string, error) {
			t.Helper()
			return place(t, s, newTestBundle(t, "binary 2", "{}", key))
		},
		"removed": remove,
	} {
		t.Run(name, func(t *testing.T) {
			s, service, h := newSite(t)
			if _, err := place(t, s, newTestBundle(t, "binary 1", "{}", key)); err != nil {
				t.Fatal(err)
			}
			openUpgrade(t, h)
			service.calls = nil
			before := files(t, s.root)
			_, err := touch(t, s)
			if err == nil || !strings.Contains(describe(err), "kubernetes-v1.36.3 (v1.35.4 to v1.36.3), operation to-v1-36-3") || !strings.Contains(describe(err), "Wait until it is finished") {
				t.Errorf("%v", err)
			}
			wantCalls(t, service)
			if files(t, s.root) != before {
				t.Error("the host has changed")
			}
			// After a reboot during an upgrade the Pod starts again, and there is nothing to
			// replace.
			if out, err := place(t, s, newTestBundle(t, "binary 1", "{}", key)); err != nil || out != "The agent is up to date\n" {
				t.Errorf("%v %s", err, out)
			}
		})
	}
}

// Its order may have been withdrawn, as after an upgrade of components alone, so nothing would ever
// finish it.
func TestAgentIsRemovedFromAHostThatHasOnlyPrefetched(t *testing.T) {
	s, _, h := newSite(t)
	if _, err := place(t, s, newTestBundle(t, "binary 1", "{}", newPublicKey(t))); err != nil {
		t.Fatal(err)
	}
	order := apply()
	order.Order.Permit = refitv1alpha1.PermitPrefetch
	records := []node.Record{order}
	for _, name := range []string{node.StepFetch, node.StepImages} {
		records = append(records, step(name, node.Started, node.Done)...)
	}
	h.journal(t, records...)
	h.remembers(t, node.HostState{Format: node.HostStateFormat, MachineID: h.machine, Sequence: 12, Epoch: 2, Open: upgradeName})
	if _, err := remove(t, s); err != nil {
		t.Error(err)
	}
}

// An order may arrive after the first check, which runs while the agent is active.
func TestOrderBetweenTheTwoChecks(t *testing.T) {
	key := newPublicKey(t)
	for name, touch := range map[string]func(*testing.T, *site) (string, error){
		"placed": func(t *testing.T, s *site) (string, error) {
			t.Helper()
			return place(t, s, newTestBundle(t, "binary 2", "{}", key))
		},
		"removed": remove,
	} {
		t.Run(name, func(t *testing.T) {
			s, service, h := newSite(t)
			if _, err := place(t, s, newTestBundle(t, "binary 1", "{}", key)); err != nil {
				t.Fatal(err)
			}
			service.calls, service.onStop = nil, func() { openUpgrade(t, h) }
			if _, err := touch(t, s); err == nil || !strings.Contains(err.Error(), "an upgrade is in progress") {
				t.Errorf("%v", err)
			}
			wantCalls(t, service, "stop", "start")
			if got, err := os.ReadFile(s.path(binaryFile)); err != nil || string(got) != "binary 1" {
				t.Errorf("%q %v", got, err)
			}
		})
	}
}

// An agent that was started manually is not a service, but holds the lock.
func TestPlaceWithAnotherAgentRunning(t *testing.T) {
	s, service, h := newSite(t)
	if err := os.MkdirAll(h.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	lock, err := host.Lock(filepath.Join(h.dir, "lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if _, err := place(t, s, newTestBundle(t, "binary", "{}", newPublicKey(t))); !errors.Is(err, host.ErrLocked) {
		t.Errorf("%v", err)
	}
	wantCalls(t, service, "stop") // there is no service to restart
}

func TestRemoveLeavesNothing(t *testing.T) {
	s, service, h := newSite(t)
	if _, err := place(t, s, newTestBundle(t, "binary", "{}", newPublicKey(t))); err != nil {
		t.Fatal(err)
	}
	h.journal(t, join(prepared(), []node.Record{{Kind: node.Finished, Outcome: "Succeeded"}})...)
	h.remembers(t, node.HostState{Format: node.HostStateFormat, MachineID: h.machine, Sequence: 12, Epoch: 2, Last: upgradeName})
	if err := os.MkdirAll(s.path(unitFile+".d"), 0o755); err != nil {
		t.Fatal(err)
	}
	var cleaned string
	s.cleanUp = func(_ context.Context, loaded settings.Settings) error { cleaned = loaded.StateDir; return nil }
	service.calls = nil
	if out, err := remove(t, s); err != nil || out != "Removed the agent\n" {
		t.Errorf("%v %s", err, out)
	}
	wantCalls(t, service, "stop", "forget")
	if cleaned != h.dir {
		t.Errorf("cleaned up %q", cleaned)
	}
	for _, entry := range tree(t, s.root) {
		if strings.Contains(entry, "refit") {
			t.Errorf("%s is left", entry)
		}
	}
	if out, err := remove(t, s); err != nil || out != "Removed the agent\n" {
		t.Errorf("second run: %v %s", err, out)
	}
	wantCalls(t, service, "stop", "forget")
}

// A state directory from the settings may contain other files.
func TestRemoveKeepsOtherFilesInTheStateDirectory(t *testing.T) {
	s, _, _ := newSite(t)
	if _, err := place(t, s, newTestBundle(t, "binary", "stateDir: /srv/data\n", newPublicKey(t))); err != nil {
		t.Fatal(err)
	}
	h := fakeHost{dir: s.path("/srv/data")}
	for _, dir := range []string{"upgrades", "store", "backups/uid-1", "rehearsal/work/data"} {
		if err := os.MkdirAll(filepath.Join(h.dir, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"theirs", "backups/uid-1/etcd.db", "rehearsal/work/data/db", "rehearsal.lock", "backups.json"} {
		h.write(t, filepath.Join(h.dir, file), "x")
	}
	out, err := remove(t, s)
	if err != nil || !strings.Contains(out, "/srv/data, which contains other files") {
		t.Errorf("%v %s", err, out)
	}
	if got, err := os.ReadDir(h.dir); err != nil || len(got) != 1 || got[0].Name() != "theirs" {
		t.Errorf("%v %v", got, err)
	}
}

func TestPauseEndsOnSignal(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	c := command(&bytes.Buffer{}, &bytes.Buffer{})
	c.SetArgs([]string{"pause"})
	ended := make(chan error)
	go func() { ended <- c.ExecuteContext(ctx) }()
	select {
	case err := <-ended:
		t.Fatalf("it returned early: %v", err)
	default:
	}
	end()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
