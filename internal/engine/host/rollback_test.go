package host

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/durable"
)

// writes is a change that sets the content of files; "absent" removes a file.
func writes(t *testing.T, content map[string]string) func() error {
	t.Helper()
	return func() error {
		for path, text := range content {
			if text == "absent" {
				must(t, os.Remove(path))
				continue
			}
			put(t, path, text, 0o600)
		}
		return nil
	}
}

// errKilled stands for a killed agent: the test then drops the state of the process.
var errKilled = errors.New("killed")

// dies makes a change and is killed before the end of the change is recorded.
func dies(t *testing.T, saved string, paths []string, change func() error) {
	t.Helper()
	defer func() {
		if r := recover(); r != errKilled { //nolint:errorlint // it is the very value
			t.Fatalf("got %v", r)
		}
	}()
	_ = Track(saved, paths, func() error {
		must(t, change())
		panic(errKilled)
	})
}

func rollback(t *testing.T, saved string, paths ...string) []string {
	t.Helper()
	kept, err := load(t, saved).Rollback(paths...)
	must(t, err)
	return kept
}

func TestRollbackRestoresWhatTheOperationWrote(t *testing.T) {
	root, saved, paths := etc(t, t.TempDir())
	config, absent, link := filepath.Join(root, "config.yaml"), filepath.Join(root, "absent.env"), filepath.Join(root, "link.conf")
	must(t, Track(saved, paths, writes(t, map[string]string{config: "config new", absent: "created", filepath.Join(root, "flags.env"): "absent"})))
	must(t, os.Remove(link)) // not by the operation
	for range 2 {
		if kept := rollback(t, saved, paths...); len(kept) > 0 {
			t.Errorf("kept %v", kept)
		}
		wantText(t, config, "config old")
		wantText(t, absent, "absent")
		wantText(t, filepath.Join(root, "flags.env"), "flags")
		wantText(t, link, "absent")
	}
}

// A rollback long after success must neither restore files that the operation did not write nor
// delete files that were added since.
func TestRollbackTouchesNothingThatTheOperationDidNotWrite(t *testing.T) {
	root, saved, paths := etc(t, t.TempDir())
	config, flags, added := filepath.Join(root, "config.yaml"), filepath.Join(root, "flags.env"), filepath.Join(root, "encryption.yaml")
	must(t, Save(saved, paths))
	must(t, Track(saved, paths, writes(t, map[string]string{config: "config new"})))
	put(t, added, "added since", 0o600)
	put(t, flags, "changed since", 0o644)
	if kept := rollback(t, saved, append(paths, added)...); len(kept) > 0 {
		t.Errorf("kept %v", kept)
	}
	wantText(t, config, "config old")
	wantText(t, flags, "changed since")
	wantText(t, added, "added since")
}

func TestFileThatWasChangedSinceIsKeptAndReported(t *testing.T) {
	for name, after := range map[string]string{"written": "config new", "created": "created", "removed": "absent"} {
		t.Run(name, func(t *testing.T) {
			root, saved, paths := etc(t, t.TempDir())
			path := filepath.Join(root, "config.yaml")
			if name == "created" {
				path = filepath.Join(root, "absent.env")
			}
			must(t, Track(saved, paths, writes(t, map[string]string{path: after})))
			put(t, path, "by an administrator", 0o600)
			if kept := rollback(t, saved, paths...); !slices.Equal(kept, []string{path}) {
				t.Errorf("kept %v", kept)
			}
			wantText(t, path, "by an administrator")
		})
	}
}

// Files that several steps write have one record: a rollback restores the first content, and the
// last content is the operation's.
func TestFileThatSeveralStepsWrote(t *testing.T) {
	root, saved, paths := etc(t, t.TempDir())
	flags := filepath.Join(root, "flags.env")
	must(t, Track(saved, paths, writes(t, map[string]string{flags: "one"})))
	must(t, Track(saved, []string{flags}, writes(t, map[string]string{flags: "two"})))
	must(t, Track(saved, []string{flags}, writes(t, nil)))
	rollback(t, saved, flags)
	wantText(t, flags, "flags")
}

func TestFileThatChangedBeforeTheOperationFirstWroteIt(t *testing.T) {
	root, saved, paths := etc(t, t.TempDir())
	config := filepath.Join(root, "config.yaml")
	must(t, Save(saved, paths))
	put(t, config, "by an administrator", 0o600)
	must(t, Track(saved, paths, writes(t, nil)))
	must(t, Track(saved, paths, writes(t, map[string]string{config: "config new"})))
	rollback(t, saved, paths...)
	wantText(t, config, "by an administrator")
}

// A step that does not change a file does not make an administrator's change the operation's.
func TestChangeBetweenTwoStepsIsNotTheOperations(t *testing.T) {
	root, saved, paths := etc(t, t.TempDir())
	config := filepath.Join(root, "config.yaml")
	must(t, Track(saved, paths, writes(t, map[string]string{config: "config new"})))
	put(t, config, "by an administrator", 0o600)
	must(t, Track(saved, paths, writes(t, nil)))
	if kept := rollback(t, saved, paths...); !slices.Equal(kept, []string{config}) {
		t.Errorf("kept %v", kept)
	}
	wantText(t, config, "by an administrator")
}

func TestAgentThatIsKilledAroundAWrite(t *testing.T) {
	for name, c := range map[string]struct {
		before, after string // of the interrupted write; empty if there was none
	}{
		"before the first write":    {"", ""},
		"after the first write":     {"", "half"},
		"before a second write":     {"one", ""},
		"after a second write":      {"one", "two"},
		"when the file was removed": {"one", "absent"},
	} {
		t.Run(name, func(t *testing.T) {
			root, saved, paths := etc(t, t.TempDir())
			config := filepath.Join(root, "config.yaml")
			if c.before != "" {
				must(t, Track(saved, paths, writes(t, map[string]string{config: c.before})))
			}
			content := map[string]string{}
			if c.after != "" {
				content[config] = c.after
			}
			dies(t, saved, paths, writes(t, content))
			if kept := rollback(t, saved, paths...); len(kept) > 0 {
				t.Errorf("kept %v", kept)
			}
			wantText(t, config, "config old")
		})
		t.Run(name+", and goes on", func(t *testing.T) {
			root, saved, paths := etc(t, t.TempDir())
			config := filepath.Join(root, "config.yaml")
			if c.before != "" {
				must(t, Track(saved, paths, writes(t, map[string]string{config: c.before})))
			}
			if c.after != "" && c.after != "absent" {
				dies(t, saved, paths, writes(t, map[string]string{config: c.after}))
			}
			must(t, Track(saved, paths, writes(t, map[string]string{config: "config new"})))
			if state, err := load(t, saved).State(config); err != nil || state != New {
				t.Errorf("%s, %v", state, err)
			}
			rollback(t, saved, paths...)
			wantText(t, config, "config old")
		})
	}
}

func TestChangeThatFailsIsRecorded(t *testing.T) {
	root, saved, paths := etc(t, t.TempDir())
	config := filepath.Join(root, "config.yaml")
	failed := errors.New("exit status 1")
	err := Track(saved, paths, func() error {
		put(t, config, "half", 0o600)
		return failed
	})
	if !errors.Is(err, failed) {
		t.Errorf("got %v", err)
	}
	put(t, filepath.Join(root, "flags.env"), "changed since", 0o644)
	rollback(t, saved, paths...)
	wantText(t, config, "config old")
	wantText(t, filepath.Join(root, "flags.env"), "changed since")
}

// A change after a rollback is kept, also if the rollback runs again.
func TestChangeAfterARollbackIsKept(t *testing.T) {
	root, saved, paths := etc(t, t.TempDir())
	config := filepath.Join(root, "config.yaml")
	dies(t, saved, paths, writes(t, map[string]string{config: "config new"}))
	rollback(t, saved, paths...)
	put(t, config, "by an administrator", 0o600)
	rollback(t, saved, paths...)
	wantText(t, config, "by an administrator")
}

func TestEditBetweenARollbackAndTheRetryIsRestored(t *testing.T) {
	root, saved, paths := etc(t, t.TempDir())
	config, absent := filepath.Join(root, "config.yaml"), filepath.Join(root, "absent.env")
	operation := writes(t, map[string]string{config: "config new", absent: "created"})
	must(t, Track(saved, paths, operation))
	rollback(t, saved, paths...)
	put(t, config, "by an administrator", 0o600)
	put(t, absent, "added by an administrator", 0o600)
	must(t, Track(saved, paths, operation))
	if kept := rollback(t, saved, paths...); len(kept) > 0 {
		t.Errorf("kept %v", kept)
	}
	wantText(t, config, "by an administrator")
	wantText(t, absent, "added by an administrator")
}

func TestModeThatWasHardenedSinceIsKept(t *testing.T) {
	root, saved, paths := etc(t, t.TempDir())
	flags := filepath.Join(root, "flags.env")
	must(t, Track(saved, paths, writes(t, map[string]string{flags: "new"})))
	must(t, os.Chmod(flags, 0o400))
	rollback(t, saved, paths...)
	wantText(t, flags, "flags")
	if info, err := os.Stat(flags); err != nil || info.Mode().Perm() != 0o400 {
		t.Errorf("%v %v", info.Mode(), err)
	}
}

func TestModeAndOwnerAreRestored(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root gives files away")
	}
	root, saved, paths := etc(t, t.TempDir())
	conf := filepath.Join(root, "kubelet.conf")
	must(t, os.Chown(conf, 12345, 54321))
	must(t, Track(saved, paths, func() error {
		must(t, os.Remove(conf))
		put(t, conf, "new", 0o644)
		return nil
	}))
	rollback(t, saved, paths...)
	if e, err := inspect(conf); err != nil || e.UID != 12345 || e.GID != 54321 || e.Mode != 0o640 {
		t.Errorf("%+v %v", e, err)
	}
}

func TestSymlinkThatTheOperationReplacedIsRestored(t *testing.T) {
	root, saved, paths := etc(t, t.TempDir())
	link := filepath.Join(root, "link.conf")
	must(t, Track(saved, paths, func() error { return durable.WriteFile(link, []byte("a file now"), 0o600) }))
	rollback(t, saved, paths...)
	if to, err := os.Readlink(link); err != nil || to != "kubelet.conf" {
		t.Errorf("%q %v", to, err)
	}
	wantText(t, filepath.Join(root, "kubelet.conf"), "conf")
}

// kubeadm writes through a symlink, so its target must be restored.
func TestTargetOfASymlinkThatTheOperationWroteIsRestored(t *testing.T) {
	root, saved, _ := etc(t, t.TempDir())
	link, target := filepath.Join(root, "link.conf"), filepath.Join(root, "kubelet.conf")
	for _, cut := range []bool{false, true} {
		if cut {
			dies(t, saved, []string{link}, func() error { return os.WriteFile(link, []byte("half"), 0o600) })
		} else {
			must(t, Track(saved, []string{link}, func() error { return os.WriteFile(link, []byte("new"), 0o600) }))
		}
		if state, err := load(t, saved).State(link); err != nil || state != New {
			t.Errorf("%s, %v", state, err)
		}
		rollback(t, saved, link)
		wantText(t, target, "conf")
		if to, err := os.Readlink(link); err != nil || to != "kubelet.conf" {
			t.Errorf("%q %v", to, err)
		}
	}
	must(t, Track(saved, []string{link}, func() error { return os.WriteFile(link, []byte("new"), 0o600) }))
	put(t, target, "by an administrator", 0o600)
	if kept := rollback(t, saved, link); !slices.Equal(kept, []string{target}) {
		t.Errorf("kept %v", kept)
	}
	wantText(t, target, "by an administrator")
}

// A write through a dangling symlink creates its target.
func TestTargetOfADanglingSymlinkIsRemoved(t *testing.T) {
	for name, to := range map[string]string{
		"relative": "made.conf", "through another link": "second.conf", "in a directory that is a link": "dir/made.conf",
	} {
		t.Run(name, func(t *testing.T) {
			root, saved, _ := etc(t, t.TempDir())
			link, made := filepath.Join(root, "dangling.conf"), filepath.Join(root, "made.conf")
			must(t, os.Symlink(to, link))
			must(t, os.Symlink("made.conf", filepath.Join(root, "second.conf")))
			must(t, os.Symlink(".", filepath.Join(root, "dir")))
			must(t, Track(saved, []string{link}, writes(t, map[string]string{link: "created"})))
			wantText(t, made, "created")
			if state, err := load(t, saved).State(link); err != nil || state != New {
				t.Errorf("%s, %v", state, err)
			}
			rollback(t, saved, link)
			wantText(t, made, "absent")
			if now, err := os.Readlink(link); err != nil || now != to {
				t.Errorf("%q %v", now, err)
			}
		})
	}
}

func TestLoopOfSymlinksIsRefused(t *testing.T) {
	root, saved, _ := etc(t, t.TempDir())
	a, b := filepath.Join(root, "a"), filepath.Join(root, "b")
	must(t, errors.Join(os.Symlink("b", a), os.Symlink("a", b)))
	if err := Track(saved, []string{a}, func() error { return nil }); err == nil {
		t.Error("it was tracked")
	}
}

func TestDamagedCopyChangesNothing(t *testing.T) {
	root, saved, paths := etc(t, t.TempDir())
	config, flags := filepath.Join(root, "config.yaml"), filepath.Join(root, "flags.env")
	must(t, Track(saved, paths, writes(t, map[string]string{config: "new", flags: "new"})))
	s := load(t, saved)
	put(t, s.blob(sha("flags")), "flagz", 0o600)
	_, err := s.Rollback(paths...)
	wantFailure(t, err, refitv1alpha1.FailureHostBroken, "SavedDamaged")
	wantText(t, config, "new")
	must(t, os.Remove(s.blob(sha("flags"))))
	_, err = s.Rollback(flags)
	wantFailure(t, err, refitv1alpha1.FailureHostBroken, "SavedDamaged")
	rollback(t, saved, config) // Undamaged files can still be rolled back.
	wantText(t, config, "config old")
}
