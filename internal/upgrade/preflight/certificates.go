package preflight

import "fmt"

func certificateExpired(v *view) []Finding {
	var found []Finding
	for _, n := range v.reported() {
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

func certificateExpiresSoon(v *view) []Finding {
	var found []Finding
	for _, n := range v.reported() {
		for _, c := range n.Report.Certificates {
			if left := c.NotAfter.Sub(v.Now); left > 0 && left < expiryWarning {
				found = append(found, Finding{
					Object:  n.object(),
					Message: fmt.Sprintf("certificate %s on %s expires in %s", c.Name, n.Name, ago(left)),
					Remedy:  renew(c.Name, n.Name, c.ExternalCA),
				})
			}
		}
	}
	return found
}

func renew(certificate, node string, externalCA bool) string {
	switch {
	case externalCA:
		return fmt.Sprintf("The key of its CA is not on the host. Renew %s with your CA and install it on %s.", certificate, node)
	case certificate == "ca" || certificate == "etcd-ca" || certificate == "front-proxy-ca":
		return "Follow the Kubernetes guide on manual rotation of CA certificates."
	case certificate == "kubelet-client-current" || certificate == "kubelet-client":
		return fmt.Sprintf("The kubelet renews it automatically. Find out why it does not. On %s, run `journalctl -u kubelet | grep -i certificate`", node)
	}
	return fmt.Sprintf("Renew it (`kubeadm certs renew %s`), then restart the control plane pods on %s.", certificate, node)
}
