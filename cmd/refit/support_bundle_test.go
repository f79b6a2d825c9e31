package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	cliv1alpha1 "github.com/refit-dev/refit/api/cli/v1alpha1"
	"github.com/refit-dev/refit/internal/cli/bundling"
)

func TestInvalidFlagsOfSupportBundle(t *testing.T) {
	for _, c := range []struct{ args, says string }{
		{"-o manifest", "none of text, json, yaml"},
		{"--max-size much", "--max-size must be a size"},
		{"--max-hosts -1", "the number of hosts"},
		{"--timeout 0s", "the timeout must be between"},
		{"--redact (", "--redact: "},
		{"one two", "one operation"},
		{"--file=", "--file is empty"},
	} {
		l := newLine(t)
		if code := l.run(t, append([]string{"support-bundle"}, strings.Fields(c.args)...)...); code != 2 || !strings.Contains(l.err.String(), c.says) || l.out.Len() > 0 {
			t.Errorf("%s: exit code %d, want 2 and %q: %s%s", c.args, code, c.says, l.out, l.err)
		}
	}
}

// A cluster that refuses everything has an empty bundle, which is an error and no file.
func TestSupportBundleOfNothing(t *testing.T) {
	l, kubeconfig := withCluster(t, nil)
	l.bundleClients = bundling.NewClients
	file := filepath.Join(t.TempDir(), "bundle.tar.gz")
	code := l.run(t, "support-bundle", "--kubeconfig", kubeconfig, "--file", file)
	if code != 1 || !strings.Contains(l.err.String(), "nothing could be collected") || l.out.Len() > 0 {
		t.Errorf("exit code %d: %s%s", code, l.out, l.err)
	}
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("the file exists: %v", err)
	}
}

// withEmptyCluster returns a command line with a cluster that has no objects.
func withEmptyCluster(t *testing.T) (l *line, kubeconfig string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		resource := path.Base(r.URL.Path)
		if !strings.HasSuffix(resource, "s") {
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`)
			return
		}
		kind := map[string]string{"pods": "PodList"}[resource]
		fmt.Fprintf(w, `{"kind":%q,"apiVersion":"v1","items":[]}`, cmp.Or(kind, "List"))
	}))
	t.Cleanup(server.Close)
	l = newLine(t)
	l.bundleClients = bundling.NewClients
	return l, kubeconfigFor(t, server.URL)
}

func TestSupportBundleAsJSON(t *testing.T) {
	l, kubeconfig := withEmptyCluster(t)
	file := filepath.Join(t.TempDir(), "bundle.tar.gz")
	if code := l.run(t, "support-bundle", "--kubeconfig", kubeconfig, "--file", file, "--max-hosts", "0", "-o", "json"); code != 0 {
		t.Fatalf("exit code %d: %s%s", code, l.out, l.err)
	}
	var index cliv1alpha1.SupportBundle
	if err := json.Unmarshal(l.out.Bytes(), &index); err != nil || index.Kind != cliv1alpha1.KindSupportBundle || index.File != file || index.FileBytes == 0 {
		t.Errorf("%v: %s", err, l.out)
	}
}

func TestSupportBundleReportsPartsIfVerbose(t *testing.T) {
	for _, verbose := range []bool{false, true} {
		l, kubeconfig := withEmptyCluster(t)
		args := []string{"support-bundle", "--kubeconfig", kubeconfig, "--file", filepath.Join(t.TempDir(), "bundle.tar.gz")}
		if verbose {
			args = append(args, "--verbose")
		}
		if code := l.run(t, args...); code != 0 || strings.Contains(l.err.String(), "reads clusterupgrades\n") != verbose {
			t.Errorf("verbose %t: exit code %d: %s%s", verbose, code, l.out, l.err)
		}
	}
}
