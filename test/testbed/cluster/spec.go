package cluster

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/refit-dev/refit/test/testbed/builder"
)

// maxNodes is the limit of the address plan.
const maxNodes = 60

// minDisk fits the root file system, the images of two versions and etcd.
const minDisk = 3 << 30

// Spec describes a cluster.
type Spec struct {
	// Name is the name of the cluster and the prefix of the names of its nodes.
	Name string `json:"name"`
	// ControlPlanes and Workers are the numbers of nodes per role.
	ControlPlanes int `json:"controlPlanes"`
	Workers       int `json:"workers"`
	// Kubernetes is the version, such as v1.35.4.
	Kubernetes string `json:"kubernetes"`
	// Install is the installation method: binaries in /usr/local/bin, deb packages from a local apt
	// repository, or rpm packages.
	Install string `json:"install"`
	// Containerd is "debian" for the Debian package, or the version that the testbed builds.
	Containerd string `json:"containerd"`
	// Zones are assigned to the nodes in turn as topology.kubernetes.io/zone.
	Zones []string `json:"zones,omitempty"`
	// Disk is the size in bytes of a separate ext4 disk per node. Zero means directories on the
	// machine's disk.
	Disk int64 `json:"disk,omitempty"`
	// VIP is the software that moves the address of the API endpoint between the control plane
	// nodes, VIPKeepalived or VIPKubeVIP. If empty, a load balancer outside the nodes has it.
	VIP string `json:"vip,omitempty"`
	// VIPUnchecked leaves the address on a node whose API server is down. Only keepalived can.
	VIPUnchecked bool `json:"vipUnchecked,omitempty"`
	// CertificatesDir is kubeadm's directory of certificates, if it is not the default.
	CertificatesDir string `json:"certificatesDir,omitempty"`
	// Etcd is EtcdExternal or EtcdExternalHosts for an etcd that systemd runs. If empty, etcd runs
	// as static pods of the control plane nodes.
	Etcd string `json:"etcd,omitempty"`
	// Layout is LayoutKubespray for the files of kubespray. If empty, they are kubeadm's.
	Layout string `json:"layout,omitempty"`
}

// The software of a virtual IP.
const (
	VIPKeepalived = "keepalived" // Debian's package
	VIPKubeVIP    = "kube-vip"   // in a static pod
)

// Default sets defaults.
func (s *Spec) Default() {
	if s.Name == "" {
		s.Name = "testbed"
	}
	if s.ControlPlanes == 0 {
		s.ControlPlanes = 1
	}
	if s.Install == "" {
		s.Install = builder.InstallBinaries
	}
	if s.Containerd == "" {
		s.Containerd = builder.ContainerdBuilt
	}
	if s.Layout == LayoutKubespray && s.Etcd == "" {
		s.Etcd = EtcdExternal
	}
	if s.Layout == LayoutKubespray && s.CertificatesDir == "" {
		s.CertificatesDir = kubesprayPKI
	}
}

// certificatesDir is kubeadm's directory of certificates.
func (s *Spec) certificatesDir() string { return cmp.Or(s.CertificatesDir, "/etc/kubernetes/pki") }

var nameRule = regexp.MustCompile(`^[a-z]([a-z0-9-]{0,18}[a-z0-9])?$`)

// Validate returns all errors of the spec.
func (s *Spec) Validate() error {
	var errs []error
	if !nameRule.MatchString(s.Name) {
		errs = append(errs, fmt.Errorf("name %q: want a letter, then letters, digits or '-', 20 at most", s.Name))
	}
	if s.ControlPlanes < 1 || s.Workers < 0 || s.ControlPlanes+s.Workers+len(etcdHosts(*s)) > maxNodes {
		errs = append(errs, fmt.Errorf("%d control planes and %d workers: want at least one control plane and %d nodes at most",
			s.ControlPlanes, s.Workers, maxNodes))
	}
	errs = append(errs, s.Image().Validate())
	if s.Disk != 0 && s.Disk < minDisk {
		errs = append(errs, fmt.Errorf("disk of %d bytes: a node needs at least 3G", s.Disk))
	}
	if slices.Contains(s.Zones, "") {
		errs = append(errs, errors.New("zones: empty name"))
	}
	switch {
	case s.VIP != "" && s.VIP != VIPKeepalived && s.VIP != VIPKubeVIP:
		errs = append(errs, fmt.Errorf("vip %q: want %s or %s", s.VIP, VIPKeepalived, VIPKubeVIP))
	case s.VIP == VIPKeepalived && s.Install == builder.InstallRpm:
		errs = append(errs, fmt.Errorf("vip %q: only the deb package exists, and nodes with rpm packages have no dpkg", s.VIP))
	case s.VIPUnchecked && s.VIP != VIPKeepalived:
		errs = append(errs, fmt.Errorf("vip %q without a health check: only %s can do that", s.VIP, VIPKeepalived))
	}
	return errors.Join(append(errs, s.validateEtcd())...)
}

func (s *Spec) validateEtcd() error {
	switch {
	case s.Etcd != "" && s.Etcd != EtcdExternal && s.Etcd != EtcdExternalHosts:
		return fmt.Errorf("etcd %q: want %s or %s", s.Etcd, EtcdExternal, EtcdExternalHosts)
	case s.Layout != "" && s.Layout != LayoutKubespray:
		return fmt.Errorf("layout %q: want %s", s.Layout, LayoutKubespray)
	case s.Layout == LayoutKubespray && s.Install != builder.InstallBinaries:
		return fmt.Errorf("layout %s: it has %s, not %s", s.Layout, builder.InstallBinaries, s.Install)
	}
	return nil
}

// Image is the node image of the cluster.
func (s *Spec) Image() builder.NodeImageSpec {
	return builder.NodeImageSpec{Kubernetes: s.Kubernetes, Install: s.Install, Containerd: s.Containerd}
}

// ParseSize parses 6G, 512M or a number of bytes.
func ParseSize(text string) (int64, error) {
	number, shift := text, 0
	for suffix, bits := range map[string]int{"G": 30, "M": 20} {
		if rest, ok := strings.CutSuffix(strings.ToUpper(text), suffix); ok {
			number, shift = rest, bits
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n <= 0 || n > 1<<(50-shift) {
		return 0, fmt.Errorf("size %q: want a number like 6G or 512M", text)
	}
	return n << shift, nil
}
