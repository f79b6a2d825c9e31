package requests

import (
	"context"
	"fmt"
	"slices"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/refit-dev/refit/internal/upgrade/rehearsal"
)

// pollInterval is the interval between two attempts.
const pollInterval = 200 * time.Millisecond

// statusTimeout bounds one attempt to reach etcd.
const statusTimeout = 5 * time.Second

// Etcd waits until etcd responds. With hash, it returns its hash of all keys up to a revision; 0 is
// the current one. A report without an answer has the reason.
func Etcd(ctx context.Context, url string, hash bool, revision int64) rehearsal.Report {
	report, err := queryEtcd(ctx, url, hash, revision)
	if err != nil {
		report.Error, report.TimedOut = err.Error(), unanswered(ctx, err)
	}
	return report
}

// unanswered reports whether an error is not an answer of etcd.
func unanswered(ctx context.Context, err error) bool {
	silent := []codes.Code{codes.Unavailable, codes.DeadlineExceeded, codes.Canceled}
	return ctx.Err() != nil || slices.Contains(silent, status.Code(err))
}

func queryEtcd(ctx context.Context, url string, hash bool, revision int64) (rehearsal.Report, error) {
	client, err := clientv3.New(clientv3.Config{
		Context: ctx, Endpoints: []string{url}, DialTimeout: 5 * time.Second,
		Logger: clientv3.NewCtxClient(context.Background()).GetLogger(), // none: the errors are returned
	})
	if err != nil {
		return rehearsal.Report{}, err
	}
	defer client.Close()
	err = retry(ctx, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, statusTimeout)
		defer cancel()
		_, err := client.Get(ctx, "refit") // a linearizable read: it needs a leader
		return err
	})
	report := rehearsal.Report{Ready: err == nil}
	if err != nil || !hash {
		return report, err
	}
	answer, err := client.HashKV(ctx, url, revision)
	if err != nil {
		return report, err
	}
	report.HashKV, report.HashRevision, report.CompactRevision = answer.Hash, answer.HashRevision, answer.CompactRevision
	return report, nil
}

// retry calls do until it succeeds or the context ends, and returns the last error.
func retry(ctx context.Context, do func(context.Context) error) error {
	for {
		err := do(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", context.Cause(ctx), err)
		case <-time.After(pollInterval):
		}
	}
}
