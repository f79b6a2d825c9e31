package bundles

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
)

func newRegistry(t *testing.T) *Registry {
	t.Helper()
	r, err := New(t.TempDir(), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	r.free = func(string) (int64, error) { return 1 << 40, nil }
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(r.directory); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the files remain: %v", err)
		}
	})
	return r
}

func start(t *testing.T, r *Registry, owner string, collect Collect) Bundle {
	t.Helper()
	b, err := r.Start(owner, collect)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
	return b
}

func collected(_ context.Context, report func(Progress), to io.Writer) (*cliv1alpha1.SupportBundle, error) {
	report(Progress{Activity: "reads"})
	report(Progress{Part: &cliv1alpha1.BundlePart{Source: "clusterupgrades"}})
	_, err := io.WriteString(to, "archive")
	return &cliv1alpha1.SupportBundle{Operation: "op", Time: time.Date(2026, 11, 19, 8, 0, 0, 0, time.UTC)}, err
}

func untilEnd(ctx context.Context, report func(Progress), _ io.Writer) (*cliv1alpha1.SupportBundle, error) {
	report(Progress{Activity: "waits"})
	<-ctx.Done()
	return nil, ctx.Err()
}

func files(t *testing.T, r *Registry) int {
	t.Helper()
	found, err := os.ReadDir(r.directory)
	if err != nil {
		t.Fatal(err)
	}
	return len(found)
}

func TestABundleIsAFileOfItsOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRegistry(t)
		b := start(t, r, "kim", collected)
		got, found := r.Get("kim", b.ID)
		if !found || !got.Complete() || got.Err != nil || got.Size != 7 || len(got.Parts) != 1 || got.Operation != "op" || got.Name != "refit-support-bundle-20261119T080000Z.tar.gz" {
			t.Errorf("the bundle is %+v", got)
		}
		file, err := r.Open("kim", b.ID)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if _, found := r.Get("lee", b.ID); found {
			t.Error("another user reads the bundle")
		}
		if _, err := r.Open("lee", b.ID); err == nil {
			t.Error("another user reads the file")
		}
		time.Sleep(keepFor)
		if _, found := r.Get("kim", b.ID); found {
			t.Error("the bundle is kept for longer")
		}
		r.Sweep()
		if files(t, r) != 0 {
			t.Error("the file is kept for longer")
		}
		if content, err := io.ReadAll(file); err != nil || string(content) != "archive" {
			t.Errorf("a download in progress has %q, %v", content, err)
		}
	})
}

func TestBundlesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRegistry(t)
		first := start(t, r, "kim", collected)
		for range mostOfOwner {
			start(t, r, "kim", collected)
		}
		if _, found := r.Get("kim", first.ID); found || files(t, r) != mostOfOwner {
			t.Errorf("an owner has %d files", files(t, r))
		}
		for i := range most {
			start(t, r, fmt.Sprint("user-", i), collected)
		}
		if files(t, r) != most {
			t.Errorf("there are %d files", files(t, r))
		}
		running := start(t, r, "kim", untilEnd)
		if got, _ := r.Get("kim", running.ID); got.Complete() || got.Activity != "waits" {
			t.Errorf("the bundle is %+v", got)
		}
		if _, err := r.Start("lee", collected); !errors.Is(err, ErrBusy) {
			t.Errorf("a second collection: %v", err)
		}
		if _, err := r.Open("kim", running.ID); err == nil {
			t.Error("a file that is not complete can be read")
		}
	})
}

func TestABundleThatFailsHasNoFile(t *testing.T) {
	for situation, c := range map[string]struct {
		collect Collect
		want    error
	}{
		"a full disk": {func(context.Context, func(Progress), io.Writer) (*cliv1alpha1.SupportBundle, error) {
			return nil, &os.PathError{Op: "write", Err: syscall.ENOSPC}
		}, ErrNoSpace},
		"a panic": {func(context.Context, func(Progress), io.Writer) (*cliv1alpha1.SupportBundle, error) { panic("fault") }, nil},
	} {
		t.Run(situation, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRegistry(t)
				b := start(t, r, "kim", c.collect)
				got, _ := r.Get("kim", b.ID)
				if !got.Complete() || got.Err == nil || c.want != nil && !errors.Is(got.Err, c.want) || files(t, r) != 0 {
					t.Errorf("the bundle is %+v with %d files", got, files(t, r))
				}
			})
		})
	}
}

func TestAFullDiskHasNoSpaceForABundle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRegistry(t)
		r.free = func(string) (int64, error) { return 2*MaxBytes - 1, nil }
		if _, err := r.Start("kim", collected); !errors.Is(err, ErrNoSpace) {
			t.Errorf("%v", err)
		}
	})
}

func TestFilesOfAnEarlierServerAreDeleted(t *testing.T) {
	directory := t.TempDir()
	if err := os.MkdirAll(filepath.Join(directory, Name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(directory, Name, "x.tar.gz"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := New(directory, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if files(t, r) != 0 {
		t.Error("the file remains")
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}
