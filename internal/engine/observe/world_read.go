package observe

import (
	"context"
	"errors"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Read reads the whole cluster from the API. Every caller gets the result of a full read that
// started after its call.
func (w *World) Read(ctx context.Context) error { return w.ReadSince(ctx, time.Now()) }

// ReadSince ensures a full read that started after a time and is not outdated. It waits for one in
// progress instead of repeating it.
func (w *World) ReadSince(ctx context.Context, earliest time.Time) error {
	w.reading.Lock()
	defer w.reading.Unlock()
	if w.readSince(earliest) {
		return nil
	}
	start := time.Now()
	m := &meter{}
	obs := newObservation(w.reader, "", m)
	watchedVersions, err := w.watchedVersions()
	if err != nil {
		return err
	}
	obs.watchedVersions = watchedVersions
	if err := obs.readAll(withMeter(ctx, m)); err != nil {
		return err
	}
	obs.snapshot.Cost.Requests, obs.snapshot.Cost.Bytes = m.cost()
	obs.snapshot.Cost.Took = time.Since(start)
	obs.snapshot.ClockOffset = obs.clockOffset()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last, w.lastAt, w.took, w.changed = obs, start, time.Since(start), false
	return nil
}

// watchedVersions returns the versions of the watched objects.
func (w *World) watchedVersions() (map[string]map[string]string, error) {
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

// maxAge is the maximum age of a full read, since some facts, such as the readiness of API servers,
// are not watched. It is longer on large clusters, where a full read takes longer.
const maxAge = 30 * time.Second

// maxSlowAge limits maxAge after a full read that was slow because the API was unhealthy.
const maxSlowAge = 3 * time.Minute

// Outdated reports whether the cluster should be read again: a control plane node and its API
// server changed since, a node seems to have left, or the last full read is too old.
func (w *World) Outdated() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.changed || time.Since(w.lastAt) > max(maxAge, min(20*w.took, maxSlowAge))
}

// ReadInBackground reads the cluster in the background, unless such a read is in progress. If it
// fails, the result of the last one stays.
func (w *World) ReadInBackground(ctx context.Context) {
	if !w.background.CompareAndSwap(false, true) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), backgroundTimeout)
	go func() {
		defer cancel()
		defer w.background.Store(false)
		_ = w.Read(ctx)
	}()
}

// backgroundTimeout is the timeout of a full read in the background.
const backgroundTimeout = 2 * time.Minute

// Age returns the age and the duration of the last full read. known is false before the first one.
func (w *World) Age() (age, took time.Duration, known bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Since(w.lastAt), w.took, w.last != nil
}
