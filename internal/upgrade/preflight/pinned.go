package preflight

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/version"

	"github.com/refit-dev/refit/internal/upgrade/skew"
)

// pin records the image tags of the kubeadm configuration, which override the versions of the
// ClusterRelease.
func (v *view) pin(h *hop) {
	if v.s.Kubeadm == nil {
		return
	}
	h.etcdTag, h.dnsTag = v.s.Kubeadm.EtcdImageTag, v.s.Kubeadm.DNSImageTag
}

// etcd returns the version of etcd that a hop installs, empty if unknown.
func (h hop) etcd() string {
	if h.etcdTag == "" {
		return h.etcdUnpinned()
	}
	if !isEtcd(h.etcdTag) {
		return "" // EtcdTagPinned reports it
	}
	return h.etcdTag
}

func (h hop) etcdUnpinned() string {
	switch {
	case h.release != nil && h.release.Payload.Etcd != "":
		return h.release.Payload.Etcd
	case h.facts != nil:
		return h.facts.Etcd
	}
	return ""
}

// isEtcd reports whether kubeadm can parse a tag as a version of etcd.
func isEtcd(tag string) bool {
	// Image tags cannot contain a plus sign.
	_, err := version.ParseSemantic(strings.Replace(tag, "_", "+", 1))
	return err == nil
}

// etcdTagPinned: kubeadm keeps a pinned tag forever, unless the running version is newer, and fails
// if it cannot compare the two.
func etcdTagPinned(v *view) []Finding {
	if v.s.Kubeadm == nil || v.s.Kubeadm.EtcdImageTag == "" || len(v.members()) == 0 || len(v.ahead) == 0 {
		return nil
	}
	tag, last := v.s.Kubeadm.EtcdImageTag, v.ahead[len(v.ahead)-1]
	pinned := fmt.Sprintf("the kubeadm configuration pins etcd to tag %s", tag)
	if !isEtcd(tag) {
		return []Finding{{
			Object:  kubeadmConfig,
			Message: pinned + ", which is not a version: kubeadm would fail to compare it with the running version",
			Remedy:  "Remove etcd.local.imageTag, or set it to a version such as 3.6.8-0: " + editKubeadm,
		}}
	}
	if unpinned := last.etcdUnpinned(); skew.EtcdStays(unpinned, tag) {
		return []Finding{{
			Severity: Warn,
			Object:   kubeadmConfig,
			Message:  fmt.Sprintf("%s, but %s comes with %s: this upgrade does not upgrade etcd to that version", pinned, last, unpinned),
			Remedy:   "If the pin is not intended, remove etcd.local.imageTag: " + editKubeadm,
		}}
	}
	return nil
}

// etcdVersion returns the version that the agent reports, or else the one in the image tag.
func (n *node) etcdVersion() string {
	if n.reportsEtcdVersion() {
		return n.Report.Etcd.Version
	}
	return n.Static["etcd"].Version
}

// etcdVersionTime returns when the agent observed etcdVersion; zero if it is from the pod.
func (n *node) etcdVersionTime() time.Time {
	if n.reportsEtcdVersion() {
		return n.Report.Observed()
	}
	return time.Time{}
}

func (n *node) reportsEtcdVersion() bool {
	return n.Report != nil && n.Report.Etcd != nil && n.Report.Etcd.Version != ""
}
