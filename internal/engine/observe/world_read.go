package observe

import (
	"context"
	"errors"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Read reads the whole cluster from the API. Each who asks gets a reading that began after that.
func (w *World) Read(ctx context.Context) error { return w.ReadSince(ctx, time.Now()) }

// ReadSince sees to it that there is a reading that began after a moment, and that nothing has outdated since: one that is under way is waited for, and not
// made again.
func (w *World) ReadSince(ctx context.Context, earliest time.Time) error {
	w.reading.Lock()
	defer w.reading.Unlock()
	if w.readSince(earliest) {
		return nil
	}
	begun := time.Now()
	m := &meter{}
	g := newGathering(w.reader, "", m)
	heard, err := w.heard()
	if err != nil {
		return err
	}
	g.heard = heard
	if err := g.gather(withMeter(ctx, m)); err != nil {
		return err
	}
	g.snapshot.Cost.Requests, g.snapshot.Cost.Bytes = m.cost()
	g.snapshot.Cost.Took = time.Since(begun)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last, w.lastAt, w.took, w.changed = g, begun, time.Since(begun), false
	return nil
}

// heard are the versions that the watches have told of.
func (w *World) heard() (map[string]map[string]string, error) {
	upgrades, err := each[refitv1alpha1.NodeUpgrade](w.watched)
	reports, also := each[refitv1alpha1.NodeReport](w.watched)
	if err := errors.Join(err, also); err != nil {
		return nil, err
	}
	out := map[string]map[string]string{kindUpgrade: make(map[string]string, len(upgrades)), kindReport: make(map[string]string, len(reports))}
	for _, u := range upgrades {
		out[kindUpgrade][u.Name] = u.ResourceVersion
	}
	for _, r := range reports {
		out[kindReport][r.Name] = r.ResourceVersion
	}
	return out, nil
}

func (w *World) readSince(earliest time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last != nil && w.lastAt.After(earliest) && !w.changed
}

// old is how old a reading may become although nothing is decided on it: what only a reading tells, such as that an API server has become ready, would never
// be heard of. On a large cluster, where a reading takes long, it is longer.
const old = 30 * time.Second

// oldest is for a reading that took long because the API was not well, which should not be waited for twenty times as long.
const oldest = 3 * time.Minute

// Outdated says whether what the last look showed should be read anew: a control plane node was changed since, and its API server with it; a node seems to have
// left; or the reading is old.
func (w *World) Outdated() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.changed || time.Since(w.lastAt) > max(old, min(20*w.took, oldest))
}

// ReadBeside reads the whole cluster beside whoever asks, unless that is under way already. If it fails, the reading that there is grows older.
func (w *World) ReadBeside(ctx context.Context) {
	if !w.beside.CompareAndSwap(false, true) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), besidePatience)
	go func() {
		defer cancel()
		defer w.beside.Store(false)
		_ = w.Read(ctx)
	}()
}

// besidePatience is when a reading beside others is given up.
const besidePatience = 2 * time.Minute

// Age is how old the newest reading is, and how long it took. It is false before the first one.
func (w *World) Age() (age, took time.Duration, known bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Since(w.lastAt), w.took, w.last != nil
}
