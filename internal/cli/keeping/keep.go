package keeping

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/text"
	"github.com/refit-dev/refit/internal/engine/kubeadm/keep"
	"github.com/refit-dev/refit/internal/upgrade/drift"
	"github.com/refit-dev/refit/internal/upgrade/phrase"
)

// reportTimeout is how long the agents may take to report.
const reportTimeout = 2 * time.Minute

// Cluster is the cluster of the node.
type Cluster struct {
	Client client.Client
	Name   string           // the user's name for the cluster
	Now    func() time.Time // the time of the API server
	// List returns all operations.
	List func(ctx context.Context) ([]refitv1alpha1.ClusterUpgrade, error)
}

// Keeper keeps the settings of a node.
type Keeper struct {
	Confirmed bool // false: prompt the user
	// Out gets the change before it is made, laid out for Page, and Err what the command waits for.
	Out, Err io.Writer
	Page     text.Page
	// Confirm prompts the user.
	Confirm func(ctx context.Context, question string) error
	// Changing is called before the cluster is changed.
	Changing func()
}

// Keep keeps the settings of a node. It may return both a result and an error: some settings could
// not be kept, or the change was written and could not be verified.
func (k *Keeper) Keep(ctx context.Context, c Cluster, node string) (*cliv1alpha1.Keep, error) {
	cluster := &keep.Cluster{Client: c.Client, Now: c.Now, ReportTimeout: reportTimeout, Waiting: k.waiting}
	observed, err := cluster.Observe(ctx, node)
	if err != nil {
		return nil, err
	}
	decision := drift.Decide(observed.Input)
	change, err := observed.Edit(decision)
	if err != nil {
		return nil, err
	}
	result, err := resultOf(c.Name, node, decision, change.Diff)
	if err != nil || len(observed.Input.Lost) == 0 {
		return result, err
	}
	if _, err := io.WriteString(k.Out, text.KeepPreview(result, k.Page)); err != nil {
		return nil, err
	}
	if len(decision.Kept) > 0 {
		if err := k.write(ctx, c, cluster, change, observed); err != nil {
			return nil, err
		}
		result.Changed = true
		result.Unverified = unverified(cluster.Reports(ctx, slices.Sorted(maps.Keys(observed.Input.Pods))...), node, result.Kept)
		if len(result.Unverified) > 0 {
			return result, fmt.Errorf("the ConfigMap kubeadm-config was changed, but that could not be verified on %s", phrase.List(namesOf(result.Unverified)))
		}
	}
	if len(decision.NotKept) > 0 {
		return result, fmt.Errorf("settings of %s on %s were not kept", phrase.List(components(decision)), node)
	}
	return result, nil
}

// waiting reports what the command waits for.
func (k *Keeper) waiting(nodes []string, atMost time.Duration) {
	fmt.Fprintf(k.Err, "Waiting at most %s for a report of the agent on %s\n", atMost, phrase.List(nodes))
}

func (k *Keeper) write(ctx context.Context, c Cluster, cluster *keep.Cluster, change *keep.Change, observed *keep.Observation) error {
	if !k.Confirmed {
		if err := k.Confirm(ctx, "Write this change to the ConfigMap kube-system/kubeadm-config?"); err != nil {
			return err
		}
	}
	// After the prompt, which may be open for long.
	all, err := c.List(ctx)
	if err != nil {
		return err
	}
	if err := idle(all, observed.Input.Pods); err != nil {
		return err
	}
	k.Changing()
	return cluster.Write(ctx, change)
}

// idle rejects a change while kubeadm may read and write the same ConfigMap.
func idle(all []refitv1alpha1.ClusterUpgrade, controlPlane drift.Pods) error {
	for i := range all {
		for _, node := range all[i].Status.Active {
			if _, is := controlPlane[node]; is && !all[i].HasEnded() {
				return fmt.Errorf("operation %s is upgrading the control plane node %s: run the command again once the node is done", all[i].Name, node)
			}
		}
	}
	return nil
}

// unverified returns the nodes that did not report, or whose kubeadm does not render a setting that
// was kept.
func unverified(reports keep.Reports, node string, kept []string) []cliv1alpha1.Unverified {
	again := fmt.Sprintf("then run `refit keep %s` again: it changes nothing that is kept already", node)
	var out []cliv1alpha1.Unverified
	for name, err := range reports.Missing {
		out = append(out, cliv1alpha1.Unverified{
			Node: name, Reason: err.Error(),
			Remedy: fmt.Sprintf("On %s, run `systemctl status refit-agent; journalctl -u refit-agent` and fix the agent, %s", name, again),
		})
	}
	for name, lost := range reports.Lost {
		for _, s := range lost {
			if slices.Contains(kept, s.String()) {
				out = append(out, cliv1alpha1.Unverified{
					Node: name, Reason: fmt.Sprintf("kubeadm still does not render %s on %s", s, name),
					Remedy: fmt.Sprintf("Compare /etc/kubernetes/manifests on %s with the change above, %s", name, again),
				})
			}
		}
	}
	slices.SortFunc(out, func(a, b cliv1alpha1.Unverified) int {
		return cmp.Or(strings.Compare(a.Node, b.Node), strings.Compare(a.Reason, b.Reason))
	})
	return out
}

func namesOf(unverified []cliv1alpha1.Unverified) []string {
	var out []string
	for _, u := range unverified {
		out = append(out, u.Node)
	}
	return slices.Compact(out)
}

func resultOf(cluster, node string, d drift.Decision, diff string) (*cliv1alpha1.Keep, error) {
	result := &cliv1alpha1.Keep{APIVersion: cliv1alpha1.APIVersion, Kind: cliv1alpha1.KindKeep, Cluster: cluster, Node: node, Diff: diff}
	for _, a := range d.Kept {
		result.Kept = append(result.Kept, a.Names()...)
	}
	for _, e := range d.NotKept {
		not := cliv1alpha1.NotKept{Component: e.Component, Settings: e.Names(), Reasons: e.Reasons}
		if len(e.Patch) > 0 {
			content, err := yaml.Marshal(e.Patch)
			if err != nil {
				return nil, err
			}
			not.Patch = &cliv1alpha1.PatchFile{Name: drift.PatchFile(e.Component), Content: string(content)}
		}
		result.NotKept = append(result.NotKept, not)
	}
	return result, nil
}

func components(d drift.Decision) []string {
	var out []string
	for _, e := range d.NotKept {
		out = append(out, e.Component)
	}
	return out
}
