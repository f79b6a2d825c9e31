package report

import (
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
			if facts, is := kubeVIPFacts(&read.Pod.Spec.Containers[i]); is {
				found = append(found, facts)
			}
		}
	}
	return found, nil
}

func kubeVIPFacts(c *corev1.Container) (facts refitv1alpha1.VirtualIPFacts, is bool) {
	image := c.Image[strings.LastIndex(c.Image, "/")+1:]
	if !strings.HasPrefix(image, "kube-vip") {
		return facts, false
	}
	env := map[string]string{}
	for _, e := range c.Env {
		env[e.Name] = e.Value
	}
	on := func(name string) bool { return env[name] == "true" }
	facts = refitv1alpha1.VirtualIPFacts{
		Address: env["address"], Software: refitv1alpha1.KubeVIP, Shared: on("bgp_enable") || on("enable_rt") || on("vip_wireguard"),
	}
	if facts.Address == "" {
		facts.Address = env["vip_address"] // before 0.4
	}
	elected := on("vip_leaderelection")
	facts.HealthCheck = &elected
	return facts, facts.Address != "" && on("cp_enable")
}
