package release

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/refit-dev/refit/internal/cli/exit"
	"github.com/refit-dev/refit/internal/upgrade/signedconfig"
)

const configurationHead = "apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\n"

func TestClusterConfigurationOfAPublisher(t *testing.T) {
	path := filepath.Join(t.TempDir(), "patch.yaml")
	write(t, path, configurationHead+`apiServer:
  extraArgs:
  - {name: goaway-chance, value: "0.001"}
etcd: {local: {extraArgs: [{name: quota-backend-bytes, value: "8589934592"}]}}
featureGates: {NodeLocalCRISocket: true}
`)
	patch, err := readConfiguration(path)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"apiServer":{"extraArgs":[{"name":"goaway-chance","value":"0.001"}]},` +
		`"etcd":{"local":{"extraArgs":[{"name":"quota-backend-bytes","value":"8589934592"}]}},"featureGates":{"NodeLocalCRISocket":true}}`
	if got, _ := json.Marshal(patch); string(got) != want {
		t.Errorf("got %s", got)
	}
}

func TestClusterConfigurationsThatAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"apiServer: {}\n":                               "not a ClusterConfiguration",
		configurationHead:                               "sets nothing",
		configurationHead + "networking: {}\n":          "sets only apiServer.extraArgs",
		configurationHead + "apiServer: {certSANs: []}": "sets only apiServer.extraArgs",
		configurationHead + "apiServer: {extraArgs: [{name: audit-log-path, value: /var/log/audit.log}]}": "names a file",
		configurationHead + "apiServer: {extraArgs: {v: '4'}}":                                            "sets only",
		configurationHead + "scheduler: {}\nscheduler: {}\n":                                              "already set",
		configurationHead + "#" + strings.Repeat("x", maxConfigurationFile):                               "more than",
	} {
		path := filepath.Join(t.TempDir(), "patch.yaml")
		write(t, path, text)
		_, err := readConfiguration(path)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if _, err := readConfiguration(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a missing file is accepted")
	}
	_, err := readConfiguration(filepath.Join("testdata", "none"))
	if _, usage := errors.AsType[exit.UsageError](err); usage {
		t.Error("a missing file is a wrong flag")
	}
}

func TestExampleOfAClusterConfiguration(t *testing.T) {
	const example = "../../../examples/cluster-configuration.yaml"
	patch, err := readConfiguration(example)
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range []string{"v1.35.4", "v1.36.3", "v1.37.1"} {
		if found := signedconfig.Unsupported(signedconfig.Of(patch), version); len(found) > 0 {
			t.Errorf("%s: %q", version, found)
		}
	}
	shown, err := os.ReadFile("../../../docs/releases.md")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(example)
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ = bytes.Cut(text, []byte("can set.\n")) // without its comment
	if !bytes.Contains(shown, text) || len(text) < 100 {
		t.Errorf("docs/releases.md does not show the example:\n%s", text)
	}
}
