package rehearsal

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/refit-dev/refit/internal/upgrade/rehearsal"
	"github.com/refit-dev/refit/internal/upgrade/sandbox"
)

// Command is the subcommand of the agent that sends the requests in the network of a rehearsal.
const Command = "rehearsal-requests"

// Files in the scratch directory of a sandbox.
const (
	reportName = "report.json"
	tokenName  = "token"
)

// maxReport bounds the report that is read.
const maxReport = 1 << 20

// observationInterval is the interval at which the servers are observed during the requests.
const observationInterval = 200 * time.Millisecond

// reportMargin is the time that the requests have to report that nothing answered, and the servers
// to outlive them.
const reportMargin = 30 * time.Second

// queryEtcd waits until etcd serves.
func (r *Runner) queryEtcd(ctx context.Context, args ...string) (rehearsal.Report, string, error) {
	args = append([]string{"--etcd=" + rehearsal.EtcdURL, "--timeout=" + seconds(r.Timeouts.Etcd)}, args...)
	return r.request(ctx, r.Timeouts.Etcd+reportMargin, []string{unitEtcd}, args...)
}

// request runs the requests while the servers run. It returns the name of the server that ended, if
// one did, instead of a report.
func (r *Runner) request(ctx context.Context, timeout time.Duration, servers []string, args ...string) (report rehearsal.Report, ended string, err error) {
	if err := os.Remove(r.file("work", reportName)); err != nil && !os.IsNotExist(err) {
		return report, "", err
	}
	u := sandbox.Unit{
		Name: unitRequests, Description: "Refit: requests of a rehearsal", Kind: sandbox.Task,
		Command:     append([]string{rehearsal.Agent, Command, "--report=" + rehearsal.Scratch + "/" + reportName}, args...),
		Environment: []string{"GOMEMLIMIT=400MiB"}, Bounds: background(512<<20, timeout),
		Sandbox: &sandbox.Sandbox{
			ReadOnly: []sandbox.Bind{{Host: r.Agent, Path: rehearsal.Agent}}, Writable: []sandbox.Bind{r.scratch()}, Joins: unitEtcd,
		},
		Output: r.file(unitRequests + ".out"), Log: r.file(unitRequests + ".log"),
	}
	if err := r.fresh(u); err != nil {
		return report, "", err
	}
	if err := r.Units.Start(ctx, u); err != nil {
		return report, "", err
	}
	outcome, ended, err := r.watch(ctx, servers)
	err = joinCleanup(ctx, err, func(ctx context.Context) error { return r.Units.Stop(ctx, unitRequests) })
	switch {
	case err != nil || ended != "":
		return report, ended, err
	case outcome.Failed():
		return report, "", r.broken("RequestsFailed", "cannot query the rehearsal",
			"Run it again; if this repeats, report this fault of Refit", unitRequests, outcome)
	}
	report, err = r.report()
	return report, "", err
}

// watch waits until the requests or one of the servers ended.
func (r *Runner) watch(ctx context.Context, servers []string) (outcome sandbox.Outcome, ended string, err error) {
	ticker := time.NewTicker(observationInterval)
	defer ticker.Stop()
	for {
		for _, server := range servers {
			if o, err := r.Units.Outcome(ctx, server); err == nil && o.Ended {
				return o, server, nil
			}
		}
		if o, err := r.Units.Outcome(ctx, unitRequests); err == nil && o.Ended {
			return o, "", nil
		}
		select {
		case <-ctx.Done():
			return outcome, "", context.Cause(ctx)
		case <-ticker.C: // after an error, too: the bounds of the units end them
		}
	}
}

func (r *Runner) report() (rehearsal.Report, error) {
	var report rehearsal.Report
	info, err := os.Stat(r.file("work", reportName))
	if err == nil && info.Size() > maxReport {
		err = fmt.Errorf("it has %d bytes", info.Size())
	}
	var text []byte
	if err == nil {
		text, err = os.ReadFile(r.file("work", reportName))
	}
	if err == nil {
		err = json.Unmarshal(text, &report)
	}
	if err != nil {
		return report, fmt.Errorf("cannot read the report of the requests: %w", err)
	}
	return report, nil
}

func seconds(d time.Duration) string { return strconv.Itoa(int(d.Seconds())) + "s" }

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
