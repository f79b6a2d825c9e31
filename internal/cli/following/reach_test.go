package following

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/exit"
)

var errRefused = fmt.Errorf("cannot reach the API server: %w", syscall.ECONNREFUSED)

func TestReachWaitsForAnAPIServerThatIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries, reports := 0, []string(nil)
		f := Following{Limit: time.Minute}
		err := f.Reach(t.Context(), func(err error) { reports = append(reports, err.Error()) }, func(context.Context) error {
			if tries++; tries < 4 {
				return errRefused
			}
			return nil
		})
		if err != nil || tries != 4 || len(reports) != 1 || !strings.HasSuffix(reports[0], "The command keeps trying") {
			t.Errorf("%v after %d attempts; reports %q", err, tries, reports)
		}
		start := time.Now()
		err = f.Follow(t.Context(), "op", func(ctx context.Context) (*cliv1alpha1.Operation, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}, func(*cliv1alpha1.Operation) string { return "" })
		if took := time.Since(start); err == nil || took != time.Minute-3*retryInterval {
			t.Errorf("%v after %s: the limit is that of both", err, took)
		}
	})
}

func TestReachEndsWithTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := Following{Limit: 5 * time.Second}
		err := f.Reach(t.Context(), func(error) {}, func(context.Context) error { return errRefused })
		if _, late := errors.AsType[exit.TimeoutError](err); !late || !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("got %v", err)
		}
	})
}

func TestReachEndsWithAnInterrupt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		err := (&Following{}).Reach(ctx, func(error) { cancel() }, func(context.Context) error { return errRefused })
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}

func TestReachDoesNotRetryAnErrorThatStays(t *testing.T) {
	wrong := errors.New("the API server rejects your credentials")
	err := (&Following{}).Reach(t.Context(), func(err error) { t.Errorf("it waits for %v", err) }, func(context.Context) error { return wrong })
	if !errors.Is(err, wrong) {
		t.Errorf("got %v", err)
	}
}
