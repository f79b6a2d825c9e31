package bed

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/refit-dev/refit/test/testbed/bare"
	"github.com/refit-dev/refit/test/testbed/sample"
)

// Measured runs `refit upgrade` while it samples the API and a Service. It returns the duration of
// the command in seconds, and the samples.
func (s *Site) Measured(t *testing.T, figure, to string, more ...string) (float64, sample.Report) {
	t.Helper()
	sampler, err := bare.StartSampler(t.Context(), s.Cluster)
	Must(t, err)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go bare.SampleHealthyNodes(ctx, s.Cluster, sampler)
	up := s.Upgrade(t, to, more...)
	up.Wait(t, Whole, ExitDone)
	took := time.Since(up.Started).Seconds()
	Must(t, s.WaitWorkload(t.Context())) // a gap must have an end to be measured
	stop()
	report := sampler.Stop()
	Must(t, report.WriteTable(os.Stdout))
	Show(t, figure, took, "s")
	ShowGaps(t, figure, "all", report)
	if service, _ := report.Kind(sample.KindService); s.Spec().Workers > 1 && service.Failed > 0 {
		t.Errorf("%d requests to a Service behind a budget failed", service.Failed)
	}
	return took, report
}
