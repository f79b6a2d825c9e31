package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/refit-dev/refit/config"
	"github.com/refit-dev/refit/internal/engine/install"
)

// backupObjects are created for backups, once.
var backupObjects = []install.Ref{
	{APIVersion: "v1", Kind: "Namespace", Resource: "namespaces", Name: "refit-backup"},
	{APIVersion: "refit.dev/v1alpha1", Kind: "BackupStore", Resource: "backupstores", Name: "local"},
}

// docs/install.md shows these screens: the objects are those that Refit installs.
func TestScreensOfInstallAndUninstall(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	const key = "keys/refit-release.pem"
	outside := t.TempDir()
	write(t, filepath.Join(outside, key), "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END PUBLIC KEY-----\n")
	objects := installedObjects(t)
	// The DaemonSet that removes the agents is removed, too.
	removed := append(with(objects, install.Removed), install.Change{Ref: install.Ref{Kind: "DaemonSet", Namespace: "refit-agent", Name: "refit-remove"}, Action: install.Removed})
	nodes := []install.NodeProgress{
		{Node: "cp-1", State: install.Done},
		{Node: "cp-2", State: install.Done},
		{Node: "cp-3", State: install.Done},
		{Node: "worker-1", State: install.Done},
		{Node: "worker-2", State: install.Done},
	}
	for name, c := range map[string]struct {
		cluster fakeCluster
		args    []string
		code    int
	}{
		"install": {
			fakeCluster{changes: with(objects, install.Created), added: with(backupObjects, install.Created), nodes: nodes, controller: &install.ControllerProgress{Wanted: 2, Available: 2}},
			[]string{"install", "--release-key", key, "--source", "/srv/refit"},
			0,
		},
		"uninstall": {
			fakeCluster{
				survey: install.Survey{
					Version: "development", Objects: removed, Cordoned: []string{"worker-2"},
					Content: []install.Count{{Resource: "clusterupgrades", Number: 1}, {Resource: "nodeupgrades", Number: 5}, {Resource: "nodereports", Number: 5}, {Resource: "clusterreleases", Number: 1}, {Resource: "backupstores", Number: 1}},
				},
				nodes: append(nodes[:4:4], install.NodeProgress{Node: "worker-2", State: install.Unreachable, Why: "NodeStatusUnknown: Kubelet stopped posting node status."}),
			},
			[]string{"uninstall", "--yes"},
			1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			l, kubeconfig := withCluster(t, &c.cluster)
			t.Chdir(outside)
			if code := l.run(t, append(c.args, "--kubeconfig", kubeconfig)...); code != c.code {
				t.Errorf("exit code %d, want %d: %s", code, c.code, l.err)
			}
			t.Chdir(here)
			golden(t, "screen-"+name+".golden", l.out.Bytes())
		})
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// installedObjects are the objects of an installation with a controller.
func installedObjects(t *testing.T) []install.Ref {
	t.Helper()
	objects, err := install.Render(install.Options{
		Manifests: config.Files, Version: "development", Agent: "a", Controller: "c", Keys: map[string]string{"key.pem": "key"},
	})
	if err != nil {
		t.Fatal(err)
	}
	var out []install.Ref
	for _, o := range objects {
		out = append(out, install.Ref{
			APIVersion: o.GetAPIVersion(), Kind: o.GetKind(), Resource: strings.ToLower(o.GetKind()) + "s", Namespace: o.GetNamespace(), Name: o.GetName(),
		})
	}
	return out
}

func with(objects []install.Ref, action install.Action) []install.Change {
	var out []install.Change
	for _, ref := range objects {
		out = append(out, install.Change{Ref: ref, Action: action})
	}
	return out
}
