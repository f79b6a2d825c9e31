//go:build apiserver

package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/cluster/clustertest"
	"github.com/refit-dev/refit/internal/upgrade/etcdbackup"
	"github.com/refit-dev/refit/test/apiserver"
	"github.com/refit-dev/refit/test/apiserver/agents"
)

// recording is the upgrade that docs/upgrade.md and README.md show. internal/cli/text renders it.
const recording = "../../../internal/cli/text/testdata/upgrade.jsonl"

// moment is one change of a recorded upgrade.
type moment struct {
	At        time.Time             `json:"at"`
	Operation cliv1alpha1.Operation `json:"operation"`
}

// TestRecordedUpgrade upgrades simulated hosts with the CLI and its controllers, and compares the
// course of the upgrade with the recording. REFIT_RECORD=1 records it again, with steps that take
// as long as on the testbed.
func TestRecordedUpgrade(t *testing.T) {
	hosts := agents.Options{Fetch: 200 * time.Millisecond, Step: 200 * time.Millisecond, End: 200 * time.Millisecond}
	backup := 200 * time.Millisecond
	record := os.Getenv("REFIT_RECORD") != ""
	if record {
		hosts = agents.Options{Fetch: 8 * time.Second, Step: 2 * time.Second, End: 6 * time.Second}
		backup = 25 * time.Second
	}
	got := upgradeSimulated(t, hosts, backup)
	if record {
		must(t, os.WriteFile(recording, encodeMoments(t, got), 0o644))
	}
	text, err := os.ReadFile(recording)
	must(t, err)
	if want := course(decodeMoments(t, text)); !slices.Equal(course(got), want) {
		t.Errorf("the upgrade took another course than the recorded one (REFIT_RECORD=1 records it):\n%s\nrecorded:\n%s",
			strings.Join(course(got), "\n"), strings.Join(want, "\n"))
	}
}

// upgradeSimulated runs `refit upgrade` on three control plane nodes and two workers, whose backup
// takes a while.
func upgradeSimulated(t *testing.T, options agents.Options, backup time.Duration) []moment {
	t.Helper()
	server := apiserver.Start(t, apiserver.Options{})
	options.TakeBackup = func(ctx context.Context, _ string, ref refitv1alpha1.BackupRef) refitv1alpha1.NodeBackupStatus {
		select {
		case <-ctx.Done():
		case <-time.After(backup):
		}
		return agents.Backup(ctx, clientOf(t, server), ref)
	}
	for _, name := range []string{"refit-agent", "refit-trial"} {
		must(t, clientOf(t, server).Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}))
	}
	for _, folder := range []string{"crd", "controller", "policy", "rbac"} {
		server.Install(t, config+folder)
	}
	must(t, agents.Load(t.Context(), server.RESTConfig(), clustertest.HA("v1.35.4", 3, 2,
		clustertest.Pods(cluster.Workload{Namespace: "shop", Kind: "Deployment", Name: "cart", GraceSeconds: 30}, map[string]int32{"worker-1": 2, "worker-2": 2}),
		clustertest.Budget("shop", "cart", 2, "cart"),
	), "v1.36.3"))
	hosts, err := agents.New(server.RESTConfig(), options)
	must(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	running.Go(func() { _ = hosts.Run(ctx) }) // ends with the context
	must(t, hosts.Reported(ctx))
	must(t, clientOf(t, server).Create(ctx, etcdbackup.NewLocalStore([]string{recipient})))

	command := exec.CommandContext(ctx, program, "upgrade", "--to", "v1.36.3", "--standalone", "--yes", "-o", "json",
		"--kubeconfig", server.Kubeconfig(t, hosts.Trusting(server.RESTConfig())))
	var problems bytes.Buffer
	command.Stderr = &problems
	lines, err := command.StdoutPipe()
	must(t, err)
	must(t, command.Start())
	got := readMoments(t, bufio.NewScanner(lines))
	if err := command.Wait(); err != nil {
		t.Fatalf("%v:\n%s", err, problems.String())
	}
	return got
}

// readMoments reads the lines of a command as it prints them. The first one is the plan.
func readMoments(t *testing.T, lines *bufio.Scanner) []moment {
	t.Helper()
	lines.Buffer(nil, 1<<20)
	var out []moment
	for lines.Scan() {
		if decode[metav1.TypeMeta](t, lines.Text()).Kind != cliv1alpha1.KindOperation {
			continue
		}
		m := moment{At: time.Now().UTC().Truncate(100 * time.Millisecond), Operation: decode[cliv1alpha1.Operation](t, lines.Text())}
		m.Operation.Cluster = "prod"
		out = append(out, m)
	}
	must(t, lines.Err())
	return out
}

// course is what does not depend on durations: the order of the nodes, and how the stages and the
// upgrade end.
func course(of []moment) []string {
	var out []string
	for i := range of {
		for _, node := range of[i].Operation.Active {
			if node.Activity != cliv1alpha1.ActivityPrefetch && !slices.Contains(out, node.Node) {
				out = append(out, node.Node)
			}
		}
	}
	last := &of[len(of)-1].Operation
	for _, stage := range last.Stages {
		out = append(out, fmt.Sprintf("%s %s: %d of %d", stage.Name, stage.Kubernetes, stage.Done, stage.Total))
	}
	return append(out, last.Phase)
}

func encodeMoments(t *testing.T, of []moment) []byte {
	t.Helper()
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	for _, m := range of {
		must(t, encoder.Encode(m))
	}
	return out.Bytes()
}

func decodeMoments(t *testing.T, text []byte) []moment {
	t.Helper()
	var out []moment
	for line := range bytes.Lines(text) {
		out = append(out, decode[moment](t, string(line)))
	}
	return out
}
