package builder

import (
	"fmt"
	"path/filepath"

	"github.com/refit-dev/refit/test/testbed/versions"
)

// proxyCommands are the commands that kube-proxy calls. iptables is the variant of the node's
// Debian (nft), so that the kubelet, the CNI plugins and kube-proxy write the same tables.
var proxyCommands = []string{
	"/usr/sbin/iptables", "/usr/sbin/iptables-save", "/usr/sbin/iptables-restore",
	"/usr/sbin/ip6tables", "/usr/sbin/ip6tables-save", "/usr/sbin/ip6tables-restore",
	"/usr/sbin/iptables-nft", "/usr/sbin/iptables-nft-save", "/usr/sbin/iptables-nft-restore",
	"/usr/sbin/ip6tables-nft", "/usr/sbin/ip6tables-nft-save", "/usr/sbin/ip6tables-nft-restore",
	"/usr/sbin/iptables-legacy", "/usr/sbin/iptables-legacy-save", "/usr/sbin/iptables-legacy-restore",
	"/usr/sbin/ip6tables-legacy", "/usr/sbin/ip6tables-legacy-save", "/usr/sbin/ip6tables-legacy-restore",
	"/usr/sbin/nft", "/usr/sbin/conntrack", "/usr/sbin/modprobe",
}

// proxyImage is kube-proxy with the packet filter tools of the node's root: the binaries, their
// libraries, and the plugins of iptables.
func proxyImage(r versions.Release, binary, root string) (image, error) {
	img := binaryImage(versions.Registry+"/kube-proxy:"+r.Kubernetes, filepath.Dir(binary), filepath.Base(binary))
	taken := newClosure(root)
	for _, command := range proxyCommands {
		if err := taken.add(command); err != nil {
			return image{}, fmt.Errorf("collecting %s: %w", command, err)
		}
	}
	plugins, err := filepath.Glob(filepath.Join(root, "usr/lib/*/xtables/*.so"))
	if err != nil || len(plugins) == 0 {
		return image{}, fmt.Errorf("collecting the plugins of iptables: none in %s", root)
	}
	for _, plugin := range plugins {
		if err := taken.add(plugin[len(root):]); err != nil {
			return image{}, fmt.Errorf("collecting %s: %w", plugin, err)
		}
	}
	img.files = append(img.files, taken.layerFiles()...)
	return img, nil
}
