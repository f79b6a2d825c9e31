package terminal_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/refit-dev/refit/internal/cli/terminal"
	"github.com/refit-dev/refit/internal/upgrade/cluster/clustertest"
)

func TestALogHasTheTransferEveryHalfMinute(t *testing.T) {
	var out bytes.Buffer
	now := clustertest.Now
	streams := &terminal.Streams{Err: &out, Getenv: noEnvironment, Now: func() time.Time { return now }}
	transfer := streams.NewTransfer("nightly")
	for i := range int64(61) {
		transfer.Report((i+1)<<20, 122<<20)
		now = now.Add(time.Second)
	}
	transfer.End()
	if got := out.String(); strings.Count(got, "\n") != 2 || !strings.Contains(got, "Reading nightly, 60 s: 61 MiB of 122 MiB, 1 min left\n") {
		t.Errorf("got %q", got)
	}
}
