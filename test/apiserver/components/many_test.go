//go:build apiserver

package components

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/artifact/charts"
	"github.com/refit-dev/refit/test/testbed/figure"
)

const (
	manyComponents = 10
	mostPlanning   = 5.0 // seconds
)

// TestAPlanOfTenComponents plans components that were installed with an older version each.
// Findings about the only node, which has no agent, block the plan.
func TestAPlanOfTenComponents(t *testing.T) {
	if os.Getenv("REFIT_COMPONENTS_FULL") == "" {
		t.Skip("it builds the CLI: run make e2e-components-full")
	}
	b := newBed(t)
	archive := b.pack(2)
	must(t, charts.Put(t.Context(), b.client, archive))
	var all []*made
	var signed []refitv1alpha1.ReleaseComponent
	for range manyComponents {
		m := b.newName()
		m.installOld()
		all = append(all, m)
		signed = append(signed, m.signed(archive))
	}
	all[0].publish("ten", signed...)
	for _, m := range all {
		m.release, m.digest = all[0].release, all[0].digest
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "cp-1", Labels: map[string]string{"node-role.kubernetes.io/control-plane": ""}}}
	must(t, b.client.Create(t.Context(), node))
	// A Node with nothing but a version is virtual.
	node.Status.NodeInfo = corev1.NodeSystemInfo{KubeletVersion: b.server.Version(), ContainerRuntimeVersion: "containerd://2.1.4", KernelVersion: "6.1.0"}
	must(t, b.client.Status().Update(t.Context(), node))

	begun := time.Now()
	for _, m := range all {
		if got := blocked(m.offer()); got != "" {
			t.Fatalf("%q blocks", got)
		}
	}
	must(t, figure.Print("components_ten_offers", time.Since(begun).Seconds(), "s"))

	refit := filepath.Join(t.TempDir(), "refit")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", refit, "github.com/refit-dev/refit/cmd/refit").CombinedOutput()
	if err != nil {
		t.Fatalf("building refit: %v\n%s", err, out)
	}
	kubeconfig := b.server.Kubeconfig(t, b.server.As(t, "planner", "system:masters"))
	begun = time.Now()
	out, err = exec.CommandContext(t.Context(), refit, "plan", "--components", "--release", "ten", "--kubeconfig", kubeconfig, "-o", "json").Output()
	took := time.Since(begun).Seconds()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() != 3 {
		t.Fatalf("refit plan: %v: %s", err, exit.Stderr)
	} else if err != nil && !ok {
		t.Fatalf("refit plan: %v", err)
	}
	var report cliv1alpha1.Report
	must(t, json.Unmarshal(out, &report))
	planned := 0
	if report.Plan != nil {
		for _, stage := range report.Plan.Stages {
			planned += len(stage.Components)
		}
	}
	must(t, figure.Print(fmt.Sprintf("components_plan_of_%d", planned), took, "s"))
	if planned != manyComponents {
		t.Errorf("the plan has %d components:\n%s", planned, out)
	}
	if took > mostPlanning {
		t.Errorf("the plan took %.1f s, the limit is %.0f s", took, mostPlanning)
	}
}
