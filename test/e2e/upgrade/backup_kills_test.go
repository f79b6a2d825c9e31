//go:build e2e

package upgrade

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/refit-dev/refit/test/e2e/bed"
	"github.com/refit-dev/refit/test/testbed/cluster"
)

const (
	crashPoints    = "/etc/refit/crashpoints.yaml"
	crashPointsLog = "/var/lib/refit/crashpoints.log"
)

// TestBackupKills kills the agent around every record of the journal of a backup with drill and
// rehearsal, once each: the next attempt succeeds, and nothing of the killed one counts or is left.
func TestBackupKills(t *testing.T) {
	s := &site{&bed.Site{Bed: bed.New(t, cluster.Spec{Name: "upkills", Kubernetes: older})}}
	s.Agent = bed.BuildCrashing(t)
	s.Prepare(t)
	s.Install(t)
	b := newBuckets(t, s, func(t *testing.T) string { t.Helper(); return t.TempDir() })
	d := &drills{site: s, release: s.CreateRelease(t, newer), cp: s.First(cluster.RoleControlPlane)}

	must(t, d.crash(t.Context(), "log", ""))
	d.requestTo(t, "undisturbed", "s3")
	d.ready(t, "undisturbed")
	log, err := bed.ReadOn(t.Context(), d.cp, crashPointsLog)
	must(t, err)
	points := slices.DeleteFunc(strings.Fields(log), func(point string) bool { return !strings.HasPrefix(point, "backup-") })
	if len(points) < 10 {
		t.Fatalf("the points of a backup are %v", points)
	}
	for i, point := range points {
		t.Run(point, func(t *testing.T) { d.testKilledAt(t, b, fmt.Sprintf("killed-%d", i), point) })
	}
	show(t, "backup_kills", float64(len(points)), "kills")
}

// crash configures the crash points of the agent.
func (d *drills) crash(ctx context.Context, mode, match string) error {
	if _, err := d.cp.Exec(ctx, "rm", "-f", crashPointsLog); err != nil {
		return err
	}
	return bed.WriteOn(ctx, d.cp, crashPoints, fmt.Sprintf("{mode: %s, match: [%q]}\n", mode, match))
}

func (d *drills) testKilledAt(t *testing.T, b *buckets, name, point string) {
	t.Helper()
	must(t, d.crash(t.Context(), "only", point))
	d.requestTo(t, name, "s3")
	got := d.ready(t, name).Status
	log, err := bed.ReadOn(t.Context(), d.cp, crashPointsLog)
	must(t, err)
	// A killed agent whose result is recorded reports it after its start.
	want := int64(2)
	if point == "backup-finish/done" {
		want = 1
	}
	if strings.TrimSpace(log) != point || got.Attempt != want || got.ReadBack == nil || got.Drilled == nil || len(got.Rehearsed) != 1 {
		t.Errorf("killed at %q: %+v", log, got)
	}
	b.onlyComplete(t, "s3", 0)
	d.nothingLeft(t)
}
