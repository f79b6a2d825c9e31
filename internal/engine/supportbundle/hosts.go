package supportbundle

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/supportbundle/archive"
	"github.com/refit-dev/refit/internal/upgrade/supportbundle"
)

// parallel is how many hosts are read at a time, and how many of them are in memory.
const parallel = 4

const (
	sourceHost  = "journals of the host"
	sourceHosts = "journals of all hosts"
)

// hosts adds the journals of the hosts.
func (r *run) hosts(ctx context.Context) error {
	if r.Limits.Hosts == 0 && len(r.Nodes) == 0 {
		return nil
	}
	r.report(Progress{Activity: "reads the Nodes"})
	all, err := r.allHosts(ctx)
	if err != nil {
		return r.fail(sourceHosts, "", err)
	}
	for _, name := range supportbundle.Unknown(all, r.Nodes) {
		if err := r.fail(sourceHost, name, supportbundle.Fail(supportbundle.ReasonNotFound, "there is no Node %s", name)); err != nil {
			return err
		}
	}
	selected, left := supportbundle.SelectHosts(all, r.operation, r.Nodes, r.Limits.Hosts)
	from, err := r.source(ctx)
	if err != nil {
		return r.fail(sourceHosts, "", err)
	}
	failed := r.inOrder(ctx, selected, from)
	r.deleteLeftovers(ctx)
	if failed != nil {
		return failed
	}
	for _, h := range left {
		failure := supportbundle.Fail(supportbundle.ReasonHostLimit, "%d other hosts are more important for the operation", len(selected))
		if err := r.fail(sourceHost, h.Node, failure); err != nil {
			return err
		}
	}
	return nil
}

// inOrder reads hosts in parallel and adds them in their order. No more than parallel hosts are in
// memory.
func (r *run) inOrder(ctx context.Context, hosts []supportbundle.Host, from source) error {
	ctx, cancel := context.WithCancel(ctx)
	results := make([]chan []archive.Part, len(hosts))
	start := func(i int) {
		results[i] = make(chan []archive.Part, 1)
		go func() { results[i] <- r.host(ctx, hosts[i], from) }()
	}
	for i := range min(parallel, len(hosts)) {
		start(i)
	}
	// No Pod may remain, so every host is waited for.
	var failed error
	for i := range hosts {
		for _, p := range <-results[i] {
			if failed == nil {
				failed = r.add(p)
			}
		}
		if failed != nil {
			cancel()
		}
		if next := i + parallel; next < len(hosts) {
			start(next)
		}
	}
	cancel()
	return failed
}

// host returns the parts of a host.
func (r *run) host(ctx context.Context, h supportbundle.Host, from source) []archive.Part {
	if !h.Reachable {
		r.report(Progress{Node: h.Node, Activity: "is skipped: its kubelet does not report"})
		return []archive.Part{r.missing(h.Node, supportbundle.Fail(supportbundle.ReasonNodeUnreachable,
			"the kubelet of %s does not report its status: no Pod can start there", h.Node))}
	}
	parts, err := r.collectHost(ctx, h.Node, from)
	if err != nil {
		r.report(Progress{Node: h.Node, Activity: "failed: " + r.classify(err).Message})
		parts = append(parts, r.missing(h.Node, err))
	}
	return parts
}

func (r *run) missing(node string, err error) archive.Part {
	return archive.Part{BundlePart: cliv1alpha1.BundlePart{Source: sourceHost, Node: node, Error: r.classify(err)}}
}

// allHosts returns the nodes of the cluster.
func (r *run) allHosts(ctx context.Context) (out []supportbundle.Host, err error) {
	changed := map[string]bool{}
	if r.operation != nil {
		// Without them the order of the hosts is worse. The index lists NodeUpgrades as missing.
		_ = r.list(ctx, collection{refit("nodeupgrades"), ""}, func(u *unstructured.Unstructured) error {
			if name, _, _ := unstructured.NestedString(u.Object, "spec", "operation", "name"); name == r.operation.Name {
				changed[u.GetName()] = true
			}
			return nil
		})
	}
	err = r.list(ctx, collection{core("nodes"), ""}, func(u *unstructured.Unstructured) error {
		_, controlPlane := u.GetLabels()["node-role.kubernetes.io/control-plane"]
		out = append(out, supportbundle.Host{Node: u.GetName(), ControlPlane: controlPlane, Changed: changed[u.GetName()], Reachable: reports(u)})
		return nil
	})
	return out, err
}

// reports is false if the controllers have not heard from a kubelet. A node that reports not to be
// ready is tried.
func reports(node *unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedSlice(node.Object, "status", "conditions")
	for _, c := range conditions {
		if condition, ok := c.(map[string]any); ok && condition["type"] == string(corev1.NodeReady) {
			return condition["status"] != string(corev1.ConditionUnknown)
		}
	}
	return true
}

// source returns the image of the agents, which every node has.
func (r *run) source(ctx context.Context) (source, error) {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	set, err := r.Typed.AppsV1().DaemonSets(namespaceAgent).Get(ctx, namespaceAgent, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return source{}, supportbundle.Fail(supportbundle.ReasonNoAgentImage,
			"the DaemonSet refit-agent does not exist: there is no image for the collector Pods")
	case err != nil:
		return source{}, fmt.Errorf("cannot get the image of the agents: %w", err)
	case len(set.Spec.Template.Spec.Containers) == 0:
		return source{}, supportbundle.Fail(supportbundle.ReasonNoAgentImage,
			"the DaemonSet refit-agent has no container")
	}
	spec := &set.Spec.Template.Spec
	out := source{image: spec.Containers[0].Image, pullSecrets: spec.ImagePullSecrets}
	if len(out.pullSecrets) == 0 && spec.ServiceAccountName != "" {
		// Without permission there are none: the image is usually on the node.
		if account, err := r.Typed.CoreV1().ServiceAccounts(namespaceAgent).Get(ctx, spec.ServiceAccountName, metav1.GetOptions{}); err == nil {
			out.pullSecrets = account.ImagePullSecrets
		}
	}
	return out, nil
}
