package backup

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/etcd"
	"github.com/refit-dev/refit/internal/engine/rehearsal"
	"github.com/refit-dev/refit/internal/upgrade/node"
	core "github.com/refit-dev/refit/internal/upgrade/rehearsal"
)

// fakeTrials is what runs drills and rehearsals on a host. Its units outlive an agent.
type fakeTrials struct {
	low      error                 // of memory
	mount    error                 // of images
	findings []core.Finding        // of every hop
	during   func(progress string) // what happens while a unit runs
	fails    error                 // of the hops
	cannot   error                 // of the drill
	pinned   bool                  // the images of the hops
	unpins   error                 // of the container runtime
	units    int
	cleaned  int
	files    []string
}

func (f *fakeTrials) render(_ context.Context, dir string, releases []refitv1alpha1.ReleaseRef, wait func(string)) ([]rehearsal.Hop, error) {
	wait("fetching kubeadm")
	f.pinned = true
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "kubeadm"), nil, 0o600); err != nil {
		return nil, err
	}
	var hops []rehearsal.Hop
	for range releases {
		hops = append(hops, rehearsal.Hop{Version: "v1.36.3"})
	}
	return hops, nil
}

// unpin unpins the images of the hops in a directory that still has their list.
func (f *fakeTrials) unpin(_ context.Context, dir string) error {
	if _, err := os.Stat(dir); err == nil && f.unpins == nil {
		f.pinned = false
	}
	return f.unpins
}

func (f *fakeTrials) connect(_ context.Context, observer rehearsal.Observer) (Runner, error) {
	return &fakeRunner{f, observer}, nil
}

type fakeRunner struct {
	*fakeTrials

	observer rehearsal.Observer
}

func (r *fakeRunner) CanMount() error { return r.mount }

func (r *fakeRunner) Fits(int64) error { return r.low }

func (r *fakeRunner) Close() {}

func (r *fakeRunner) Clean(context.Context) error {
	r.units, r.cleaned = 0, r.cleaned+1
	return nil
}

// Rehearse restores a backup as far as it can be read, and compares it.
func (r *fakeRunner) Rehearse(ctx context.Context, b rehearsal.Backup, hops []rehearsal.Hop) (rehearsal.Result, error) {
	r.units++
	defer func() { r.units = 0 }()
	r.files = append(r.files, b.File)
	r.step("restoring the backup")
	if r.cannot != nil {
		return rehearsal.Result{}, r.cannot
	}
	content, err := etcd.ReadSnapshot(ctx, b.File)
	if err != nil {
		return rehearsal.Result{}, err
	}
	if err := core.Compare(b.Expected, core.Figures{Revision: content.Revision, Hash: content.Hash, Entries: content.Keys, EntriesHash: content.EntriesHash}); err != nil {
		return rehearsal.Result{}, node.ManualIntervention("BackupDiffers", err, "Take another backup", "the restored backup differs from its record")
	}
	if err := errors.Join(r.observer.Drilled(core.Figures{}), context.Cause(ctx)); err != nil {
		return rehearsal.Result{}, err
	}
	for _, hop := range hops {
		r.step("starting kube-apiserver")
		if r.fails != nil {
			return rehearsal.Result{}, r.fails
		}
		r.observer.Rehearsed(rehearsal.HopResult{
			Version: hop.Version, Findings: r.findings, Report: core.Report{Listed: 70, Objects: 308}, Memory: core.Memory{WatchCache: true},
		})
	}
	return rehearsal.Result{}, nil
}

func (r *fakeRunner) step(message string) {
	r.observer.Progress(rehearsal.Progress{Message: message, Timeout: 1})
	if r.during != nil {
		r.during(message)
	}
}
