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
	sampling := s.StartSampling(t)
	up := s.Upgrade(t, to, more...)
	up.Wait(t, Whole, ExitDone)
	took := time.Since(up.Started).Seconds()
	Show(t, figure, took, "s")
	return took, sampling.End(t, figure)
}

// Sampling samples the API and a Service.
type Sampling struct {
	site    *Site
	sampler *sample.Sampler
	stop    context.CancelFunc
}

// StartSampling deploys a workload and starts to sample.
func (s *Site) StartSampling(t *testing.T) *Sampling {
	t.Helper()
	sampler, err := bare.StartSampler(t.Context(), s.Cluster)
	Must(t, err)
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	go bare.SampleHealthyNodes(ctx, s.Cluster, sampler)
	return &Sampling{site: s, sampler: sampler, stop: stop}
}

// End prints the samples. No request to a Service may have failed if two workers can run it.
func (s *Sampling) End(t *testing.T, figure string) sample.Report {
	t.Helper()
	Must(t, s.site.WaitWorkload(t.Context())) // a gap must have an end to be measured
	s.stop()
	report := s.sampler.Stop()
	Must(t, report.WriteTable(os.Stdout))
	ShowGaps(t, figure, "all", report)
	service, _ := report.Kind(sample.KindService)
	Show(t, figure+"_service_failed", float64(service.Failed), "requests")
	if s.site.Spec().Workers > 1 && service.Failed > 0 {
		t.Errorf("%d requests to a Service behind a budget failed", service.Failed)
	}
	return report
}
