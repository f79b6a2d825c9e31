package keep

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/refit-dev/refit/internal/upgrade/drift"
)

var update = flag.Bool("update", false, "write the golden files")

func fixture(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// additions has values that YAML would read as another type, and components without any arguments.
var additions = []drift.Addition{
	{
		Component: "kube-apiserver",
		Args: []drift.Arg{
			{Name: "anonymous-auth", Value: "false"},
			{Name: "audit-log-maxage", Value: "30"},
			{Name: "audit-policy-file", Value: "/etc/kubernetes/audit/policy.yaml"},
			{Name: "authorization-mode", Value: "Node,RBAC,Webhook"},
			{Name: "oidc-groups-prefix", Value: "oidc:"},
		},
		Volumes: []drift.Mount{
			{Volume: "audit", HostPath: "/etc/kubernetes/audit", Path: "/etc/kubernetes/audit", ReadOnly: true, PathType: "Directory"},
			{Volume: "audit-log", HostPath: "/srv/audit", Path: "/var/log/audit"},
		},
	},
	{Component: "kube-scheduler", Args: []drift.Arg{{Name: "tls-min-version", Value: "VersionTLS13"}}},
	{Component: "etcd", Args: []drift.Arg{{Name: "cipher-suites", Value: "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"}}},
}

func TestConfigurationsAsWritten(t *testing.T) {
	for _, version := range []string{"v1beta3", "v1beta4"} {
		t.Run(version, func(t *testing.T) {
			before := fixture(t, version+".yaml")
			after, err := edit(before, additions)
			if err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", version+".diff")
			got, err := unified(configMap+"/"+configKey, before, after)
			if err != nil {
				t.Fatal(err)
			}
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if want := fixture(t, version+".diff"); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			if again, err := edit(after, additions); err != nil || again != after {
				t.Errorf("a second time it becomes\n%s\n%v", again, err)
			}
		})
	}
}

func TestUnknownFieldsAndCommentsStay(t *testing.T) {
	before := "# ours\n" + fixture(t, "v1beta4.yaml") + "fieldOfTheFuture: {a: [1, 2]} # stays\n"
	after, err := edit(before, additions)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"# ours\n", "fieldOfTheFuture: {a: [1, 2]} # stays\n"} {
		if !strings.Contains(after, want) {
			t.Errorf("%q is missing in\n%s", want, after)
		}
	}
}

func TestInvalidConfigurationIsRefused(t *testing.T) {
	for _, text := range []string{"", "{", "[]", "kind: Other", "apiVersion: kubeadm.k8s.io/v1beta4\napiServer: text", "apiVersion: kubeadm.k8s.io/v1beta4\napiServer: {extraArgs: {a: b}}"} {
		if after, err := edit(text, additions); err == nil {
			t.Errorf("%q becomes\n%s", text, after)
		}
	}
}

func TestSecretsAreNotShown(t *testing.T) {
	const text = `apiVersion: kubeadm.k8s.io/v1beta4
apiServer:
  extraArgs: # hidden-1
  - {name: oidc-issuer-url, value: "https://user:hidden-2@issuer"}
  - {name: some-password, value: hidden-3}
  - {name: password-file, value: /shown/file}
  extraEnvs:
  - {name: HTTP_PROXY, value: hidden-4}
  - {name: OTHER, valueFrom: {secretKeyRef: {name: hidden-5}}}
etcd: {local: {extraArgs: [{name: shown-url, value: "https://shown"}]}}
`
	shown, err := redacted(text)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(shown[0], "hidden-") || strings.Count(shown[0], "shown") != 3 || !strings.Contains(shown[0], "HTTP_PROXY") {
		t.Errorf("got\n%s", shown[0])
	}
}
