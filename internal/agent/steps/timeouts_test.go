package steps

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"
	"testing"
	"time"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/agent/settings"
	"github.com/refit-dev/refit/internal/engine/packages"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// bounds are all bounded waits inside of steps, as the source names them.
func bounds(s settings.Settings) map[string]time.Duration {
	return map[string]time.Duration{
		"kubeletTimeout": kubeletTimeout, "terminationTimeout": terminationTimeout, "othersTimeout": othersTimeout, "restartTimeout": restartTimeout,
		"imageTimeout": imageTimeout, "requestTimeout": requestTimeout, "config.Timeout": requestTimeout,
		"h.Settings.Timeouts.Etcd.Duration()": s.Timeouts.Etcd.Duration(), "h.Settings.Timeouts.APIServer.Duration()": s.Timeouts.APIServer.Duration(),
		"h.Settings.Timeouts.Controllers.Duration()": s.Timeouts.Controllers.Duration(), "h.Settings.Timeouts.Containerd.Duration()": s.Timeouts.Containerd.Duration(),
		"h.Settings.Timeouts.Kubelet.Duration()": s.Timeouts.Kubelet.Duration(),
		"g.timeout":                              packages.LockTimeout, "d.fetchTimeout": packages.FetchTimeout,
	}
}

// inner lists the waits of each step.
var inner = map[string][]string{
	node.StepImages:      {"imageTimeout"},
	node.StepCheck:       {"imageTimeout"},
	node.StepSave:        {"g.timeout", "d.fetchTimeout"},
	node.StepStage:       {"g.timeout"},
	node.StepPods:        {"restartTimeout"},
	node.StepEtcd:        {"kubeletTimeout", "terminationTimeout", "othersTimeout", "imageTimeout", "h.Settings.Timeouts.Etcd.Duration()", "requestTimeout"},
	node.StepAPIServer:   {"kubeletTimeout", "terminationTimeout", "imageTimeout", "h.Settings.Timeouts.APIServer.Duration()", "config.Timeout"},
	node.StepControllers: {"kubeletTimeout", "terminationTimeout", "imageTimeout", "h.Settings.Timeouts.Controllers.Duration()"},
	node.StepContainerd:  {"g.timeout", "h.Settings.Timeouts.Containerd.Duration()", "h.Settings.Timeouts.Etcd.Duration()"},
	node.StepRunc:        {"g.timeout"},
	node.StepCNI:         {"g.timeout"},
	node.StepKubelet:     {"g.timeout", "h.Settings.Timeouts.Kubelet.Duration()", "h.Settings.Timeouts.Etcd.Duration()"},
	node.StepVerify:      {"h.Settings.Timeouts.APIServer.Duration()", "h.Settings.Timeouts.Controllers.Duration()", "h.Settings.Timeouts.Kubelet.Duration()"},
}

func allSteps() []node.Step {
	return node.Steps(node.Upgrade{
		Role: refitv1alpha1.RoleFirstControlPlane, Etcd: true, StopAPIServer: true,
		Parts: []refitv1alpha1.Part{refitv1alpha1.PartContainerd, refitv1alpha1.PartRunc, refitv1alpha1.PartCNI},
	})
}

// A step whose limit ends first reports that it took too long, rolls the host back, and hides what
// it waited for.
func TestEveryWaitEndsBeforeItsStep(t *testing.T) {
	slow := settings.Default()
	slow.Timeouts = settings.Timeouts{Etcd: 1800, APIServer: 1800, Controllers: 1800, Containerd: 1800, Kubelet: 1800}
	for name, s := range map[string]settings.Settings{"default": settings.Default(), "slow host": slow} {
		for _, step := range allSteps() {
			for _, wait := range inner[step.Name] {
				bound, known := bounds(s)[wait]
				if limit := Limit(step, s); !known || bound >= limit {
					t.Errorf("%s: %s waits %v for %s and ends after %v", name, step.Name, bound, wait, limit)
				}
				if limit := UndoLimit(step, s); step.Undo != node.UndoNothing && wait != "othersTimeout" && bound >= limit {
					t.Errorf("%s: the undo of %s waits %v for %s and ends after %v", name, step.Name, bound, wait, limit)
				}
			}
		}
	}
}

// A new timeout must get its row in the table.
func TestEveryTimeoutIsInTheTable(t *testing.T) {
	known := bounds(settings.Default())
	for _, dir := range []string{".", "../../engine/packages"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		must(t, err)
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			must(t, err)
			ast.Inspect(parsed, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if ok && types.ExprString(call.Fun) == "context.WithTimeout" {
					if _, has := known[types.ExprString(call.Args[1])]; !has {
						t.Errorf("%s: the timeout %s is in no table", file, types.ExprString(call.Args[1]))
					}
				}
				return true
			})
		}
	}
}
