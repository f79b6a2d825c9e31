//go:build apiserver

package helm

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"helm.sh/helm/v4/pkg/chart/v2/loader"

	"github.com/refit-dev/refit/internal/engine/helm"
	"github.com/refit-dev/refit/test/apiserver"
)

// lanes returns the number of releases that are upgraded in parallel. Each of them needs a run
// without a kill.
func lanes() int {
	if isFull() {
		return 4
	}
	return 2
}

// isFull reports whether everything is tested, which takes minutes and downloads charts.
func isFull() bool { return os.Getenv("REFIT_COMPONENTS_FULL") != "" }

func full(t *testing.T) {
	t.Helper()
	if !isFull() {
		t.Skip("it takes minutes: run make e2e-components-full")
	}
}

// shortDistance is odd, so that both places of a write are tested.
const shortDistance = 17

// every returns 1 if everything is tested, otherwise the distance between the tested places.
func every(distance int) int {
	if isFull() {
		return 1
	}
	return distance
}

// TestKilledActions kills an upgrade in waves and its rollback before and after each write, or at
// some of them.
func TestKilledActions(t *testing.T) {
	t.Parallel()
	s := apiserver.Shared(t, apiserver.Options{})
	kills := matrix(t, func(t *testing.T) *lane {
		t.Helper()
		return installed(t, s)
	})
	report(t, "helm_made_kills", float64(kills), "kills")
}

// TestKilledActionsWithClientSideApply does the same for a release of Helm 3, whose objects are not
// applied by the server.
func TestKilledActionsWithClientSideApply(t *testing.T) {
	t.Parallel()
	full(t)
	s := apiserver.Shared(t, apiserver.Options{})
	kills := matrix(t, func(t *testing.T) *lane {
		t.Helper()
		l := newLane(t, s, made(t, 1), made(t, 2))
		chart, err := loader.LoadDir(filepath.Join("testdata", "made-1"))
		must(t, err)
		bareInstall(t, l.config, l.release.Namespace, l.release.Name, chart, false)
		return l
	})
	report(t, "helm_client_side_kills", float64(kills), "kills")
}

// matrix kills each write of an upgrade and of a rollback and returns the number of kills.
func matrix(t *testing.T, begin func(t *testing.T) *lane) int {
	t.Helper()
	var kills atomic.Int64
	t.Run("lanes", func(t *testing.T) {
		for i := range lanes() {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				l := begin(t)
				l.upgraded, l.rolledBack = l.clean(l.upgrade()), l.clean(l.rollback())
				for n := i * every(shortDistance); n < l.lastPlace(); n += lanes() * every(shortDistance) {
					kills.Add(int64(l.cycle(n)))
				}
			})
		}
	})
	return int(kills.Load())
}

// lastPlace returns the number of places of the longer direction: two of each write.
func (l *lane) lastPlace() int { return 2 * max(l.upgraded.writes, l.rolledBack.writes) }

// cycle kills write n/2+1 of an upgrade and of the rollback that follows, and returns the number of
// kills. Odd numbers kill after the write.
func (l *lane) cycle(n int) int {
	l.t.Helper()
	kills, started := 0, time.Now()
	for _, direction := range []struct {
		name  string
		steps []step
		clean outcome
	}{{"upgrade", l.upgrade(), l.upgraded}, {"rollback", l.rollback(), l.rolledBack}} {
		k := &apiserver.Killer{At: n/2 + 1, After: n%2 == 1}
		situation := fmt.Sprintf("%s killed at write %d (after: %v)", direction.name, k.At, k.After)
		killedIn := l.run(direction.steps, k)
		if (killedIn != "") != (k.At <= direction.clean.writes) {
			l.t.Errorf("%s: it was killed in %q, of %d writes", situation, killedIn, direction.clean.writes)
		}
		if killedIn != "" {
			kills++
			tally.kill(l.to.Chart.Name)
			l.t.Logf("place %d of %d: %s, in %s", n+1, l.lastPlace(), situation, killedIn)
		}
		l.same(direction.clean, situation)
		if l.t.Failed() {
			l.t.FailNow()
		}
	}
	must(l.t, l.client(&apiserver.Killer{}).Prune(bounded(l.t), 2))
	l.t.Logf("place %d of %d took %.1f s", n+1, l.lastPlace(), time.Since(started).Seconds())
	return kills
}

// TestKilledInstallations kills an installation before and after each write, or at some of them.
func TestKilledInstallations(t *testing.T) {
	t.Parallel()
	s := apiserver.Shared(t, apiserver.Options{})
	old, to := made(t, 1), made(t, 2)
	install := func(k *apiserver.Killer) *lane {
		l := newLane(t, s, old, to)
		mark := l.mark("install")
		l.run([]step{{"install", func(ctx context.Context, c *helm.Client) error { return c.Install(ctx, mark, l.old) }}}, k)
		return l
	}
	counted := &apiserver.Killer{}
	clean := install(counted).outcome()
	kills := 0
	for n := 0; n < 2*counted.Writes(); n += every(7) {
		kills++
		tally.kill(to.Name)
		k := &apiserver.Killer{At: n/2 + 1, After: n%2 == 1}
		t.Logf("place %d of %d", n+1, 2*counted.Writes())
		install(k).same(clean, fmt.Sprintf("killed at write %d (after: %v)", k.At, k.After))
	}
	report(t, "helm_install_kills", float64(kills), "kills")
}
