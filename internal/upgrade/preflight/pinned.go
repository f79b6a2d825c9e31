package preflight

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/version"

	"github.com/refit-dev/refit/internal/upgrade/skew"
)

// pin makes a hop bring what kubeadm would render: a tag in its configuration goes before whatever the release comes with.
func (v *view) pin(h *hop) {
	if v.s.Kubeadm == nil {
		return
	}
	h.etcdTag, h.dnsTag = v.s.Kubeadm.EtcdImageTag, v.s.Kubeadm.DNSImageTag
}

// etcd is the version of etcd that a hop brings, empty if that is not known.
func (h hop) etcd() string {
	if h.etcdTag == "" {
		return h.etcdUnpinned()
	}
	if !isEtcd(h.etcdTag) {
		return "" // EtcdTagPinned tells of it
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

// isEtcd says whether kubeadm can read a tag as a version of etcd.
func isEtcd(tag string) bool {
	_, err := version.ParseSemantic(strings.Replace(tag, "_", "+", 1)) // a tag cannot have the plus sign
	return err == nil
}

// etcdTagPinned: kubeadm keeps to a tag in its configuration for good, unless what runs is newer, and fails if it cannot compare the two.
func etcdTagPinned(v *view) []Finding {
	if v.s.Kubeadm == nil || v.s.Kubeadm.EtcdImageTag == "" || len(v.members()) == 0 || len(v.ahead) == 0 {
		return nil
	}
	tag, last := v.s.Kubeadm.EtcdImageTag, v.ahead[len(v.ahead)-1]
	pinned := fmt.Sprintf("kubeadm's configuration pins etcd to the tag %s", tag)
	if !isEtcd(tag) {
		return []Finding{{
			Object:  kubeadmConfig,
			Message: pinned + ", which is no version: kubeadm compares it with what runs, and would fail",
			Remedy:  "Take the tag out of etcd.local.imageTag, or write it as a version such as 3.6.8-0: " + editKubeadm,
		}}
	}
	if brings := last.etcdUnpinned(); skew.EtcdStays(brings, tag) {
		return []Finding{{
			Severity: Warn,
			Object:   kubeadmConfig,
			Message:  fmt.Sprintf("%s, and %s comes with %s: the upgrade does not bring etcd there", pinned, last, brings),
			Remedy:   "Unless this is meant, take the tag out of etcd.local.imageTag: " + editKubeadm,
		}}
	}
	return nil
}

// etcdVersion is what a member's agent says, else what its image says.
func (n *node) etcdVersion() string {
	if n.Report != nil && n.Report.Etcd != nil && n.Report.Etcd.Version != "" {
		return n.Report.Etcd.Version
	}
	return n.Static["etcd"].Version
}
