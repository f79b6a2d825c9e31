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

	"github.com/refit-dev/refit/internal/agent/settings"
	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/engine/host"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// fakeService writes down what is asked of it.
type fakeService struct {
	asked  []string
	onStop func() // what happens on the host while it stops
}

func (f *fakeService) say(what string) error { f.asked = append(f.asked, what); return nil }

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

// newSite is a host's root in a directory, without systemd.
func newSite(t *testing.T) (*site, *fakeService, fakeHost) {
	t.Helper()
	id, err := host.Identify()
	if err != nil {
		t.Skipf("this machine has no machine ID: %v", err)
	}
	root, service := t.TempDir(), &fakeService{}
	s := &site{root: root, settings: settings.File, service: service, letGo: func(settings.Settings) error { return nil }}
	return s, service, fakeHost{machine: id.MachineID, dir: filepath.Join(root, "var/lib/refit")}
}

// newTestBundle is what a container brings: a program, a unit, keys and settings.
func newTestBundle(t *testing.T, program, given string, keys ...string) *bundle {
	t.Helper()
	b := &bundle{program: []byte(program), unit: unit}
	dir := t.TempDir()
	for i, key := range keys {
		fakeHost{}.write(t, filepath.Join(dir, fmt.Sprintf("%d.pem", i)), key)
	}
	if err := b.addKeysOf(byCluster, dir); err != nil {
		t.Fatal(err)
	}
	b.over = func(s settings.Settings) (settings.Settings, error) { return s.Overlay([]byte(given)) }
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

func takeAway(t *testing.T, s *site) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := (&app{out: &out}).doRemove(t.Context(), s)
	return strings.ReplaceAll(out.String(), s.root, ""), err
}

// tree is every file and directory below a root, with modes.
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

func wantAsked(t *testing.T, f *fakeService, want ...string) {
	t.Helper()
	if !slices.Equal(f.asked, want) {
		t.Errorf("the service was asked to %v, want %v", f.asked, want)
	}
	f.asked = nil
}

func TestAnAgentIsPlacedOnce(t *testing.T) {
	s, service, _ := newSite(t)
	key := newPublicKey(t)
	b := newTestBundle(t, "program 1", "sources: [/srv/refit]\n", key)
	out, err := place(t, s, b)
	if err != nil || !strings.Contains(out, "the agent is placed: /etc/refit/keys/cluster.") || !strings.Contains(out, "/usr/local/bin/refit-agent") {
		t.Errorf("%v\n%s", err, out)
	}
	wantAsked(t, service, "stop", "restart")
	got := tree(t, s.root)
	for _, want := range []string{
		"drwx------ /etc/refit", "drwx------ /etc/refit/keys", "-rw------- /etc/refit/agent.yaml", "-rw-r--r-- " + unitFile, "-rwxr-xr-x " + program,
		"Lrwxrwxrwx " + bootLink,
	} {
		if !slices.Contains(got, want) {
			t.Errorf("there is no %s in\n%s", want, strings.Join(got, "\n"))
		}
	}
	if pinned, err := artifact.LoadKeys(s.path(settings.Keys)); err != nil || len(pinned) != 1 {
		t.Errorf("%v %v", pinned, err)
	}
	before := files(t, s.root)
	out, err = place(t, s, b)
	if err != nil || out != "the agent is in place\n" || files(t, s.root) != before {
		t.Errorf("the second time: %v\n%s", err, out)
	}
	wantAsked(t, service, "start")
}

func TestOnlyWhatDiffersIsReplaced(t *testing.T) {
	key, other := newPublicKey(t), newPublicKey(t)
	for name, c := range map[string]struct {
		program, given string
		keys           []string
		says           []string
	}{
		"a newer program":        {"program 2", "sources: [/srv/refit]\n", []string{key}, []string{program}},
		"another source":         {"program 1", "sources: [/srv/new]\n", []string{key}, []string{settings.File}},
		"one key more":           {"program 1", "sources: [/srv/refit]\n", []string{key, other}, []string{settings.Keys}},
		"another key":            {"program 1", "sources: [/srv/refit]\n", []string{other}, []string{settings.Keys, "(removed)"}},
		"settings not spoken of": {"program 2", "{}\n", []string{key}, []string{program}},
	} {
		t.Run(name, func(t *testing.T) {
			s, service, _ := newSite(t)
			if _, err := place(t, s, newTestBundle(t, "program 1", "sources: [/srv/refit]\n", key)); err != nil {
				t.Fatal(err)
			}
			service.asked = nil
			out, err := place(t, s, newTestBundle(t, c.program, c.given, c.keys...))
			if err != nil {
				t.Fatal(err)
			}
			wantAsked(t, service, "stop", "restart")
			if strings.Count(out, ",") != len(c.says)-1 {
				t.Errorf("more or less was replaced than %v: %s", c.says, out)
			}
			for _, path := range c.says {
				if !strings.Contains(out, path) {
					t.Errorf("it does not say %s: %s", path, out)
				}
			}
		})
	}
}

// What a person decided on a host is not the cluster's to take away.
func TestWhatWasDecidedOnTheHostStays(t *testing.T) {
	s, _, _ := newSite(t)
	mine := s.path(settings.Keys + "/mine.pem")
	if err := os.MkdirAll(filepath.Dir(mine), 0o700); err != nil {
		t.Fatal(err)
	}
	fakeHost{}.write(t, mine, newPublicKey(t))
	fakeHost{}.write(t, s.path(settings.File), "# slow disk\nreservedDiskMiB: 128\nsources: [/srv/old]\n")
	for _, keys := range [][]string{{newPublicKey(t)}, {newPublicKey(t)}, nil} {
		if _, err := place(t, s, newTestBundle(t, "program", "sources: [/srv/refit]\n", keys...)); err != nil {
			t.Fatal(err)
		}
		pinned, err := artifact.LoadKeys(s.path(settings.Keys))
		if err != nil || len(pinned) != 1+len(keys) || !there(mine) {
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
	if _, err := place(t, s, newTestBundle(t, "program 2", "sources: [/srv/refit]\nreservedDiskMiB: 128\n")); err != nil {
		t.Fatal(err)
	}
	if after, err := os.ReadFile(s.path(settings.File)); err != nil || !bytes.Equal(before, after) {
		t.Errorf("settings that mean the same were written anew: %v", err)
	}
}

func TestWhatIsNotPlaced(t *testing.T) {
	key := newPublicKey(t)
	for name, c := range map[string]struct {
		given string
		keys  []string
		says  string
	}{
		"without a key":            {"{}", nil, "no key is pinned"},
		"a setting nobody knows":   {"script: x\n", []string{key}, "the settings for this host are not valid"},
		"a setting that is wrong":  {"reservedDiskMiB: 0\n", []string{key}, "the settings for this host are not valid"},
		"a source of unknown kind": {"sources: ['ftp://x/y']\n", []string{key}, "is not a source"},
	} {
		t.Run(name, func(t *testing.T) {
			s, service, _ := newSite(t)
			_, err := place(t, s, newTestBundle(t, "program", c.given, c.keys...))
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want %q in it", err, c.says)
			}
			wantAsked(t, service)
			if got := tree(t, s.root); len(got) > 0 {
				t.Errorf("it left\n%s", strings.Join(got, "\n"))
			}
		})
	}
}

// atWork makes a host in the midst of a work.
func atWork(t *testing.T, h fakeHost) {
	t.Helper()
	h.work(t, prepared()...)
	h.remembers(t, node.HostState{Format: node.HostStateFormat, MachineID: h.machine, Sequence: 12, Epoch: 2, Open: workName})
}

func TestAnAgentAtWorkIsLeftAlone(t *testing.T) {
	key := newPublicKey(t)
	for name, touch := range map[string]func(*testing.T, *site) (string, error){
		"placed": func(t *testing.T, s *site) (string, error) {
			t.Helper()
			return place(t, s, newTestBundle(t, "program 2", "{}", key))
		},
		"removed": takeAway,
	} {
		t.Run(name, func(t *testing.T) {
			s, service, h := newSite(t)
			if _, err := place(t, s, newTestBundle(t, "program 1", "{}", key)); err != nil {
				t.Fatal(err)
			}
			atWork(t, h)
			service.asked = nil
			before := files(t, s.root)
			_, err := touch(t, s)
			if err == nil || !strings.Contains(describe(err), "kubernetes-v1.36.3 (v1.35.4 to v1.36.3), operation autumn") || !strings.Contains(describe(err), "let it end") {
				t.Errorf("%v", err)
			}
			wantAsked(t, service)
			if files(t, s.root) != before {
				t.Error("the host has changed")
			}
			// After a reboot in the midst of a work the pod starts again, and nothing is to be replaced.
			if out, err := place(t, s, newTestBundle(t, "program 1", "{}", key)); err != nil || out != "the agent is in place\n" {
				t.Errorf("%v %s", err, out)
			}
		})
	}
}

// The first look is at an agent that runs, so an order may come after it.
func TestAnOrderThatComesBetweenTwoLooks(t *testing.T) {
	key := newPublicKey(t)
	for name, touch := range map[string]func(*testing.T, *site) (string, error){
		"placed": func(t *testing.T, s *site) (string, error) {
			t.Helper()
			return place(t, s, newTestBundle(t, "program 2", "{}", key))
		},
		"removed": takeAway,
	} {
		t.Run(name, func(t *testing.T) {
			s, service, h := newSite(t)
			if _, err := place(t, s, newTestBundle(t, "program 1", "{}", key)); err != nil {
				t.Fatal(err)
			}
			service.asked, service.onStop = nil, func() { atWork(t, h) }
			if _, err := touch(t, s); err == nil || !strings.Contains(err.Error(), "in the midst of a work") {
				t.Errorf("%v", err)
			}
			wantAsked(t, service, "stop", "start")
			if got, err := os.ReadFile(s.path(program)); err != nil || string(got) != "program 1" {
				t.Errorf("%q %v", got, err)
			}
		})
	}
}

// An agent that was started by hand is no service, and holds the lock.
func TestAnotherAgentOnTheHost(t *testing.T) {
	s, service, h := newSite(t)
	if err := os.MkdirAll(h.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	lock, err := host.Lock(filepath.Join(h.dir, "lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if _, err := place(t, s, newTestBundle(t, "program", "{}", newPublicKey(t))); !errors.Is(err, host.ErrLocked) {
		t.Errorf("%v", err)
	}
	wantAsked(t, service, "stop") // there is no service to start again
}

func TestNothingIsLeftOfAnAgent(t *testing.T) {
	s, service, h := newSite(t)
	if _, err := place(t, s, newTestBundle(t, "program", "{}", newPublicKey(t))); err != nil {
		t.Fatal(err)
	}
	h.work(t, join(prepared(), []node.Record{{Kind: node.Finished, Outcome: "Succeeded"}})...)
	h.remembers(t, node.HostState{Format: node.HostStateFormat, MachineID: h.machine, Sequence: 12, Epoch: 2, Last: workName})
	if err := os.MkdirAll(s.path(unitFile+".d"), 0o755); err != nil {
		t.Fatal(err)
	}
	var letGo string
	s.letGo = func(loaded settings.Settings) error { letGo = loaded.StateDir; return nil }
	service.asked = nil
	if out, err := takeAway(t, s); err != nil || out != "the agent is removed\n" {
		t.Errorf("%v %s", err, out)
	}
	wantAsked(t, service, "stop", "forget")
	if letGo != h.dir {
		t.Errorf("what works kept is asked for in %q", letGo)
	}
	for _, entry := range tree(t, s.root) {
		if strings.Contains(entry, "refit") {
			t.Errorf("%s is left", entry)
		}
	}
	if out, err := takeAway(t, s); err != nil || out != "the agent is removed\n" {
		t.Errorf("the second time: %v %s", err, out)
	}
	wantAsked(t, service, "stop", "forget")
}

// A directory that somebody chose for the state may hold more than ours.
func TestAStateDirectoryOfSomebodyElse(t *testing.T) {
	s, _, _ := newSite(t)
	if _, err := place(t, s, newTestBundle(t, "program", "stateDir: /srv/data\n", newPublicKey(t))); err != nil {
		t.Fatal(err)
	}
	h := fakeHost{dir: s.path("/srv/data")}
	for _, dir := range []string{"upgrades", "store"} {
		if err := os.MkdirAll(filepath.Join(h.dir, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	h.write(t, filepath.Join(h.dir, "theirs"), "x")
	out, err := takeAway(t, s)
	if err != nil || !strings.Contains(out, "/srv/data is left") {
		t.Errorf("%v %s", err, out)
	}
	if got, err := os.ReadDir(h.dir); err != nil || len(got) != 1 || got[0].Name() != "theirs" {
		t.Errorf("%v %v", got, err)
	}
}

func TestPauseEndsWhenItIsTold(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	c := command(&bytes.Buffer{}, &bytes.Buffer{})
	c.SetArgs([]string{"pause"})
	ended := make(chan error)
	go func() { ended <- c.ExecuteContext(ctx) }()
	select {
	case err := <-ended:
		t.Fatalf("it ended by itself: %v", err)
	default:
	}
	end()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
