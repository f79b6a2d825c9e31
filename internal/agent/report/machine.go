package report

import (
	"context"
	"net"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	"github.com/refit-dev/refit/internal/engine/host"
)

func identity(context.Context, *Sources) (func(*refitv1alpha1.NodeReportStatus), error) {
	id, err := host.Identify()
	if err != nil {
		return nil, err
	}
	return func(to *refitv1alpha1.NodeReportStatus) {
		to.MachineID, to.BootID, to.Hostname, to.OS, to.Arch, to.Kernel = id.MachineID, id.BootID, id.Hostname, id.OS, id.Arch, id.Kernel
	}, nil
}

func kernel(_ context.Context, s *Sources) (func(*refitv1alpha1.NodeReportStatus), error) {
	var fs unix.Statfs_t
	if err := unix.Statfs("/sys/fs/cgroup", &fs); err != nil {
		return nil, err
	}
	version := int32(1)
	if fs.Type == unix.CGROUP2_SUPER_MAGIC {
		version = 2
	}
	swaps, err := os.ReadFile(s.path("/proc/swaps"))
	on := strings.Count(strings.TrimSpace(string(swaps)), "\n") > 0 // the first line is a header
	return func(to *refitv1alpha1.NodeReportStatus) {
		to.CgroupVersion = version
		if err == nil {
			to.SwapOn = &on
		}
	}, err
}

// notOurs are interfaces whose addresses are not the host's: kube-proxy in ipvs mode adds every
// Service IP to its own.
var notOurs = []string{"kube-ipvs", "nodelocaldns"}

func addresses(context.Context, *Sources) (func(*refitv1alpha1.NodeReportStatus), error) {
	links, err := net.Interfaces()
	if err != nil {
		return nil, err
	}
	var found []string
	for _, link := range links {
		if slices.ContainsFunc(notOurs, func(prefix string) bool { return strings.HasPrefix(link.Name, prefix) }) {
			continue
		}
		on, err := link.Addrs()
		if err != nil {
			continue // the interface was removed meanwhile
		}
		for _, address := range on {
			if network, ok := address.(*net.IPNet); ok && network.IP.IsGlobalUnicast() {
				found = append(found, network.IP.String())
			}
		}
	}
	slices.Sort(found)
	found = slices.Compact(found)
	return func(to *refitv1alpha1.NodeReportStatus) { to.Addresses = found }, nil
}
