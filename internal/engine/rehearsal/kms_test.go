package rehearsal

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/refit-dev/refit/internal/upgrade/rehearsal"
)

const kmsConfig = "kind: EncryptionConfiguration\n" +
	"resources: [{resources: [secrets], providers: [{kms: {name: k, endpoint: unix:///sockets/kms.sock}}, {identity: {}}]}]\n"

// kmsHost is the manifest of an API server with a KMS plugin, and a directory of its host.
func kmsHost(t *testing.T) (m rehearsal.Manifest, dir string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "kms") //nolint:usetesting // sockets need short paths
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.WriteFile(filepath.Join(dir, "enc.yaml"), []byte(kmsConfig), 0o600); err != nil {
		t.Fatal(err)
	}
	return rehearsal.Manifest{
		Command: []string{"kube-apiserver", "--encryption-provider-config=/etc/enc/enc.yaml"},
		Mounts:  []rehearsal.Mount{{Path: "/etc/enc", HostPath: dir}},
	}, dir
}

func TestKMSPluginThatServes(t *testing.T) {
	m, dir := kmsHost(t)
	m.Mounts = append(m.Mounts, rehearsal.Mount{Path: "/sockets", HostPath: dir})
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", filepath.Join(dir, "kms.sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if found, err := kms(t.Context(), m); err != nil || len(found) != 0 {
		t.Errorf("%+v, %v", found, err)
	}
}

// Without the plugin, no Secret can be read: the rehearsal has no answer.
func TestKMSPluginThatIsUnavailableIsUnknown(t *testing.T) {
	for name, prepare := range map[string]func(t *testing.T, m *rehearsal.Manifest, dir string){
		"socket that is not mounted": func(*testing.T, *rehearsal.Manifest, string) {},
		"no socket": func(_ *testing.T, m *rehearsal.Manifest, dir string) {
			m.Mounts = append(m.Mounts, rehearsal.Mount{Path: "/sockets", HostPath: dir})
		},
		"socket of a plugin that ended": func(t *testing.T, m *rehearsal.Manifest, dir string) {
			t.Helper()
			m.Mounts = append(m.Mounts, rehearsal.Mount{Path: "/sockets", HostPath: dir})
			listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "kms.sock"), Net: "unix"})
			if err != nil {
				t.Fatal(err)
			}
			listener.SetUnlinkOnClose(false)
			if err := listener.Close(); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			m, dir := kmsHost(t)
			prepare(t, &m, dir)
			found, err := kms(t.Context(), m)
			if err != nil || len(found) != 1 || found[0].Reason != rehearsal.KMSUnavailable || !found[0].Unknown || found[0].Object != "unix:///sockets/kms.sock" {
				t.Errorf("%+v, %v", found, err)
			}
		})
	}
}
