package cluster

import (
	"bytes"
	"crypto/rand"
	_ "embed"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"text/template"

	"github.com/refit-dev/refit/test/testbed/machine"
)

//go:embed boot.sh
var bootScript []byte

// bootUnit runs the boot script before anything that needs cgroups or the network.
const bootUnit = `[Unit]
Description=Prepare cgroups, mounts and network of a testbed node
DefaultDependencies=no
After=local-fs.target
Before=sysinit.target network-pre.target

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/usr/local/sbin/testbed-boot

[Install]
WantedBy=sysinit.target
`

// cniConfig is a bridge per node with its own range; the boot script routes between the ranges.
// There is no masquerading: Pods keep their addresses.
var cniConfig = template.Must(template.New("cni").Parse(`{
  "cniVersion": "1.0.0",
  "name": "testbed",
  "plugins": [
    {
      "type": "bridge",
      "bridge": "cni0",
      "isGateway": true,
      "hairpinMode": true,
      "ipam": {
        "type": "host-local",
        "ranges": [[{"subnet": "{{.}}"}]],
        "routes": [{"dst": "0.0.0.0/0"}]
      }
    },
    {"type": "portmap", "capabilities": {"portMappings": true}}
  ]
}
`))

// writeFiles writes the identity and the network configuration of the node.
func (n *Node) writeFiles() error {
	id := make([]byte, 16)
	if _, err := io.ReadFull(rand.Reader, id); err != nil {
		return err
	}
	var cni bytes.Buffer
	if err := cniConfig.Execute(&cni, n.c.s.podRange(n.m.Number)); err != nil {
		return err
	}
	files := []struct {
		path string
		mode os.FileMode
		text string
	}{
		{"etc/hostname", 0o644, n.Name() + "\n"},
		{"etc/hosts", 0o644, n.hosts()},
		{"etc/machine-id", 0o444, hex.EncodeToString(id) + "\n"},
		{"etc/resolv.conf", 0o644, fmt.Sprintf("nameserver %s\n", n.c.s.gateway())},
		{"etc/testbed-node", 0o644, n.bootSettings()},
		{"etc/systemd/system/testbed-boot.service", 0o644, bootUnit},
		{"usr/local/sbin/testbed-boot", 0o755, string(bootScript)},
		{"etc/cni/net.d/10-testbed.conflist", 0o644, cni.String()},
	}
	for _, f := range files {
		path := filepath.Join(n.root(), f.path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		// The file of the image may be a symbolic link, so remove it first.
		if err := os.RemoveAll(path); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(f.text), f.mode); err != nil {
			return err
		}
	}
	if err := n.enable("sysinit.target.wants", "testbed-boot.service"); err != nil {
		return err
	}
	if err := n.setCgroupDriver(); err != nil {
		return err
	}
	// With this directory the journal survives reboots and power cuts.
	return os.MkdirAll(filepath.Join(n.root(), "var/log/journal"), 0o755)
}

// setCgroupDriver lets systemd create the cgroups of containers if the machine has cgroup v2, where
// it would take back the controllers of cgroups that it does not know. The file of the node image
// is for cgroup v1.
func (n *Node) setCgroupDriver() error {
	v2, err := machine.UsesCgroupV2()
	if err != nil || !v2 {
		return err
	}
	path := filepath.Join(n.root(), "etc/containerd/config.toml")
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	changed := bytes.Replace(text, []byte("SystemdCgroup = false"), []byte("SystemdCgroup = true"), 1)
	if bytes.Equal(changed, text) {
		return fmt.Errorf("%s has no SystemdCgroup", path)
	}
	return os.WriteFile(path, changed, 0o644)
}

func (n *Node) enable(wants, unit string) error {
	dir := filepath.Join(n.root(), "etc/systemd/system", wants)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.Symlink("../"+unit, filepath.Join(dir, unit))
}

func (n *Node) hosts() string {
	text := "127.0.0.1 localhost\n::1 localhost\n"
	for _, other := range n.c.Hosts() {
		text += fmt.Sprintf("%s %s\n", other.Address(), other.Name())
	}
	return text
}

// bootSettings are read by the boot script. The routes cover all possible nodes, so a node that
// joins later needs no change on the others.
func (n *Node) bootSettings() string {
	var routes string
	for other := 1; other <= maxNodes; other++ {
		if other != n.m.Number {
			routes += fmt.Sprintf("%s,%s ", n.c.s.podRange(other), n.c.s.nodeAddress(other))
		}
	}
	return fmt.Sprintf("ADDRESS=%s/24\nGATEWAY=%s\nSERVICES=%s\nROUTES=%q\n", n.Address(), n.c.s.gateway(), serviceSubnet, routes)
}
