package preflight

import (
	"fmt"
	"slices"
	"strings"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

// authorities are the CAs of kubeadm, which nothing renews.
var authorities = []string{"ca", "etcd-ca", "front-proxy-ca"}

// kubeletCertificate is the one that the kubelet renews itself.
const kubeletCertificate = "kubelet-client-current"

func certificateExpired(v *view) []Finding {
	var found []Finding
	for _, n := range v.reported() {
		if n.ControlPlane && len(n.Report.Certificates) == 0 { // the kubelet of a worker may use a token
			found = append(found, Finding{
				Unknown: true,
				Object:  n.object(),
				Message: fmt.Sprintf("the certificates of %s are unknown", n.Name),
				Remedy:  fmt.Sprintf("On %s, look for the error of the agent: `journalctl -u refit-agent | grep 'facts of this host'`", n.Name),
			})
		}
		for _, c := range n.Report.Certificates {
			if !c.NotAfter.IsZero() && !c.NotAfter.After(v.Now) {
				found = append(found, Finding{
					Object:  n.object(),
					Message: fmt.Sprintf("certificate %s on %s expired %s ago", c.Name, n.Name, ago(v.Now.Sub(c.NotAfter.Time))),
					Remedy:  renew(c.Name, n.Name, c.ExternalCA),
				})
			}
		}
	}
	return found
}

// certificateExpiresSoon is Info for the certificates that the upgrade renews: those of kubeadm on
// control plane nodes, unless their CA is elsewhere.
func certificateExpiresSoon(v *view) []Finding {
	var found []Finding
	for _, n := range v.reported() {
		for _, c := range n.Report.Certificates {
			left := c.NotAfter.Sub(v.Now)
			if left <= 0 || left >= expiryWarning {
				continue
			}
			f := Finding{
				Object:  n.object(),
				Message: fmt.Sprintf("certificate %s on %s expires in %s", c.Name, n.Name, ago(left)),
				Remedy:  renew(c.Name, n.Name, c.ExternalCA),
			}
			if n.ControlPlane && !c.ExternalCA && v.renews(c.Name) {
				f.Severity = Info
				f.Message += ", and the upgrade of the node renews it"
				f.Remedy = "No action is required if you upgrade before it expires."
			}
			found = append(found, f)
		}
	}
	return found
}

// renews reports whether an upgrade renews a certificate of a control plane node. Those of an
// external etcd belong to its owner.
func (v *view) renews(certificate string) bool {
	ofExternal := strings.Contains(certificate, "etcd") && v.s.ExternalEtcd() == cluster.Yes
	return certificate != kubeletCertificate && !slices.Contains(authorities, certificate) && !ofExternal
}

func renew(certificate, node string, externalCA bool) string {
	switch {
	case slices.Contains(authorities, certificate): // a worker never has its key
		return "Follow the Kubernetes guide on manual rotation of CA certificates."
	case externalCA:
		return fmt.Sprintf("The key of its CA is not on the host. Renew %s with your CA and install it on %s.", certificate, node)
	case certificate == kubeletCertificate:
		return fmt.Sprintf("The kubelet renews it automatically. Find out why it does not. On %s, run `journalctl -u kubelet | grep -i certificate`", node)
	}
	return fmt.Sprintf("Renew it (`kubeadm certs renew %s`), then restart the control plane pods on %s.", certificate, node)
}
