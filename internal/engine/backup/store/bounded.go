package store

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/refit-dev/refit/internal/engine/backup/recovered"
	"github.com/refit-dev/refit/internal/upgrade/backup"
)

// bounded runs work until it ends, its context ends, or it makes no progress for the stall timeout.
// A system call on a dead mount cannot be interrupted: then work is left behind with a canceled
// context, and ends when the call returns.
func bounded(ctx context.Context, stall time.Duration, work func(ctx context.Context, progress func()) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var steps atomic.Int64
	done := make(chan error, 1)
	go func() { done <- recovered.Call(func() error { return work(ctx, func() { steps.Add(1) }) }) }()
	ticker := time.NewTicker(stall)
	defer ticker.Stop()
	for before := int64(0); ; {
		select {
		case err := <-done:
			return err
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticker.C:
			now := steps.Load()
			if now == before {
				return stalled(stall)
			}
			before = now
		}
	}
}

// stalled returns the error of a store without progress.
func stalled(stall time.Duration) error {
	return fmt.Errorf("%w: no progress for %s", backup.ErrUnreachable, stall)
}

// boundedReader reads a body that may hang.
type boundedReader struct {
	*io.PipeReader
	writer *io.PipeWriter
	stall  time.Duration
	stop   func() bool
}

// boundReader returns a reader of body that fails when the context ends or body makes no progress.
func boundReader(ctx context.Context, stall time.Duration, body io.ReadCloser) io.ReadCloser {
	reader, writer := io.Pipe()
	go func() {
		writer.CloseWithError(recovered.Call(func() error {
			defer body.Close() // it was only read
			_, err := io.CopyBuffer(writer, body, make([]byte, 1<<20))
			return err
		}))
	}()
	stop := context.AfterFunc(ctx, func() { writer.CloseWithError(context.Cause(ctx)) })
	return &boundedReader{reader, writer, stall, stop}
}

func (r *boundedReader) Read(p []byte) (int, error) {
	timer := time.AfterFunc(r.stall, func() { r.writer.CloseWithError(stalled(r.stall)) })
	defer timer.Stop()
	return r.PipeReader.Read(p)
}

func (r *boundedReader) Close() error {
	r.stop()
	return r.PipeReader.Close()
}
