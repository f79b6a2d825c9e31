package report

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/kubeadm"
)

// virtualIPs reads which addresses keepalived or a static pod of kube-vip moves between hosts. They
// are configuration: the address itself is on an interface of the host that holds it.
func virtualIPs(_ context.Context, s *Sources) (func(*refitv1alpha1.NodeReportStatus), error) {
	found, err := s.keepalived()
	pods, podsErr := s.kubeVIP()
	found = append(found, pods...)
	return func(to *refitv1alpha1.NodeReportStatus) { to.VirtualIPs = found }, errors.Join(err, podsErr)
}

// kubeVIP reads the static pods of kube-vip. It elects the holder with a Lease that it renews
// through the API server of its host, so a host without one loses the address.
func (s *Sources) kubeVIP() ([]refitv1alpha1.VirtualIPFacts, error) {
	entries, err := os.ReadDir(s.path(manifestsDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var found []refitv1alpha1.VirtualIPFacts
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), ".") || entry.IsDir() {
			continue
		}
		text, err := readSmall(filepath.Join(s.path(manifestsDir), entry.Name()))
		if err != nil {
			continue // the reader of the manifests reports it
		}
		read, err := kubeadm.Parse(text)
		if err != nil || read.Pod == nil {
			continue
		}
		for i := range read.Pod.Spec.Containers {
			found = append(found, kubeVIPFacts(&read.Pod.Spec.Containers[i])...)
		}
	}
	return found, nil
}

// kubeVIPFacts returns the addresses of the endpoint that a container of kube-vip moves.
func kubeVIPFacts(c *corev1.Container) []refitv1alpha1.VirtualIPFacts {
	image := c.Image[strings.LastIndex(c.Image, "/")+1:]
	env := map[string]string{}
	for _, e := range c.Env {
		env[e.Name] = e.Value
	}
	on := func(name string) bool { return env[name] == "true" }
	if !strings.HasPrefix(image, "kube-vip") || !on("cp_enable") {
		return nil
	}
	shared, elected := on("bgp_enable") || on("vip_routingtable") || on("vip_wireguard"), on("vip_leaderelection")
	var found []refitv1alpha1.VirtualIPFacts
	// vip_address is its name before 0.4. There may be one for each family.
	for address := range strings.SplitSeq(cmp.Or(env["address"], env["vip_address"]), ",") {
		if address = strings.TrimSpace(address); address != "" {
			found = append(found, refitv1alpha1.VirtualIPFacts{Address: address, Software: refitv1alpha1.KubeVIP, HealthCheck: &elected, Shared: shared})
		}
	}
	return found
}
