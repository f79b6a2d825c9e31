package text_test

import (
	"testing"
	"time"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/text"
	"github.com/refit-dev/refit/internal/upgrade/cluster/clustertest"
	"github.com/refit-dev/refit/internal/upgrade/supportbundle"
)

func TestSupportBundlePages(t *testing.T) {
	lost := func(node, source, reason, message string) cliv1alpha1.BundlePart {
		return cliv1alpha1.BundlePart{Node: node, Source: source, Error: &supportbundle.Fail(reason, "%s", message).BundleError}
	}
	const host = "journals of the host"
	whole := &cliv1alpha1.SupportBundle{
		Cluster: "prod", Operation: "to-v1-36-3", File: "refit-support-bundle-prod-20261116T100000Z.tar.gz", FileBytes: 3_407_872,
		Since: clustertest.Now.Add(-time.Hour), Until: clustertest.Now,
		Redactions: map[string]int64{"jwt": 3, "named": 14, "bearer": 0},
		Parts: []cliv1alpha1.BundlePart{
			{Path: "objects/clusterupgrades.yaml", Source: "clusterupgrades", Bytes: 4711, Items: 1},
			{Path: "logs/refit-system/refit-controller-0/controller.log", Source: "log of refit-system/refit-controller-0, container controller", Node: "cp-1", Truncated: true},
			{Path: "hosts/cp-1/journal/kubelet.log", Source: "journal of kubelet.service", Node: "cp-1"},
			{Path: "hosts/cp-1/journal/containerd.log", Source: "journal of containerd.service", Node: "cp-1"},
			{Path: "hosts/cp-2/journal/kubelet.log", Source: "journal of kubelet.service", Node: "cp-2"},
		},
	}
	partly := *whole
	partly.Redactions = map[string]int64{"jwt": 0}
	partly.Parts = append(partly.Parts[:5:5],
		lost("worker-8", host, supportbundle.ReasonHostLimit, "3 other hosts are more important for the operation"),
		lost("worker-9", host, supportbundle.ReasonHostLimit, "3 other hosts are more important for the operation"),
		lost("", "Events of refit-system", supportbundle.ReasonForbidden, `cannot list events: events is forbidden: User "jane" cannot list resource "events"`),
		lost("worker-3", host, supportbundle.ReasonNodeUnreachable, "the kubelet of worker-3 does not report its status: no Pod can start there"),
	)
	cut := lost("cp-2", "journal of containerd.service", supportbundle.ReasonTimeout, "the journal was not read within the timeout")
	cut.Path = "hosts/cp-2/journal/containerd.log"
	partly.Parts = append(partly.Parts, cut)
	alone := *whole
	alone.Operation, alone.Cluster, alone.Host = "", "prod", ""
	alone.APIUnreachable = &supportbundle.Fail(supportbundle.ReasonAPIUnreachable, "the API server is unreachable: connection refused").BundleError
	alone.Parts = whole.Parts[2:3]
	for name, page := range map[string]*cliv1alpha1.SupportBundle{"whole": whole, "partly": &partly, "unreachable": &alone} {
		t.Run(name, func(t *testing.T) {
			golden(t, "support-bundle-"+name, text.SupportBundle(page, text.Page{Width: 100}), 100)
		})
	}
}
