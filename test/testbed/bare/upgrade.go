package bare

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/refit-dev/refit/test/testbed/builder"
	"github.com/refit-dev/refit/test/testbed/cluster"
	"github.com/refit-dev/refit/test/testbed/progress"
	"github.com/refit-dev/refit/test/testbed/sample"
)

// partDeadline is the timeout of a part: kubeadm itself fails after five minutes per static Pod.
const partDeadline = 20 * time.Minute

// Upgrade upgrades a cluster to a Kubernetes version. It imports the images first, outside the
// measured time: there is no registry. With samples, the availability of the API and a workload is
// sampled during the upgrade.
func Upgrade(ctx context.Context, c *cluster.Cluster, to string, samples bool, report *progress.Reporter) (Report, error) {
	release, err := c.Release(ctx, to)
	if err != nil {
		return Report{}, err
	}
	u := &upgrade{c: c, to: release, report: report}
	u.result = Report{Cluster: c.Name(), From: c.Spec().Kubernetes, To: to}
	preload := func() error { return c.LoadImages(ctx, release.Images) }
	if u.result.Preload, err = u.timed("importing images on every node", preload); err != nil {
		return u.result, err
	}
	if samples {
		if err := u.startSampler(ctx); err != nil {
			return u.result, err
		}
	}
	u.result.Seconds, err = u.timed(fmt.Sprintf("upgrading %s to %s", c.Name(), to), func() error { return u.nodes(ctx) })
	if u.sampler != nil {
		// A gap of the workload must end to be measured.
		err = errors.Join(err, c.WaitWorkload(ctx))
		sampled := u.sampler.Stop()
		u.result.Availability = &sampled
	}
	if err != nil {
		return u.result, err
	}
	return u.result, c.RecordRelease(release)
}

type upgrade struct {
	c       *cluster.Cluster
	to      builder.Release
	report  *progress.Reporter
	sampler *sample.Sampler
	result  Report
}

// nodes upgrades control plane nodes, then workers, one at a time.
func (u *upgrade) nodes(ctx context.Context) error {
	for i, n := range u.c.Nodes() {
		if err := u.node(ctx, n, i == 0); err != nil {
			return err
		}
	}
	return u.c.WaitReady(ctx, partDeadline)
}

// node upgrades one node in the order of the documentation.
func (u *upgrade) node(ctx context.Context, n *cluster.Node, first bool) error {
	if u.sampler != nil {
		if err := u.sampler.Exclude(n.Name()); err != nil {
			return err
		}
	}
	started := time.Now()
	result := NodeReport{Node: n.Name(), Role: n.Role()}
	for _, part := range u.parts(n, first) {
		ctx, cancel := context.WithTimeout(ctx, partDeadline)
		took, err := u.timed(n.Name()+": "+part.name, func() error { return part.work(ctx) })
		cancel()
		if err != nil {
			return err
		}
		result.Parts = append(result.Parts, Part{Name: part.name, Seconds: took})
	}
	result.Seconds = time.Since(started).Seconds()
	u.result.Nodes = append(u.result.Nodes, result)
	if u.sampler != nil {
		return u.sampler.Include(n.Name())
	}
	return nil
}

// timed reports work as a step and returns its duration in seconds.
func (u *upgrade) timed(name string, work func() error) (float64, error) {
	started := time.Now()
	err := u.report.Step(name, 0, work)
	return time.Since(started).Seconds(), err
}

// startSampler deploys the workload and samples it and the API.
func (u *upgrade) startSampler(ctx context.Context) error {
	var err error
	u.sampler, err = StartSampler(ctx, u.c)
	return err
}
