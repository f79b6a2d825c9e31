package cluster_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
	"github.com/refit-dev/refit/internal/upgrade/cluster/clustertest"
)

func TestEncodeAndDecode(t *testing.T) {
	for name, saved := range map[string]*cluster.Snapshot{
		"with agents and ClusterReleases": clustertest.HA("v1.35.4", 3, 2,
			clustertest.Agents(), clustertest.Released("v1.36.3"), clustertest.Unread(cluster.PartHelm, cluster.GapForbidden)),
		"with many nodes": clustertest.Synthetic(200, 3000, 1),
	} {
		t.Run(name, func(t *testing.T) {
			var file bytes.Buffer
			if err := cluster.Encode(&file, saved); err != nil {
				t.Fatal(err)
			}
			first := file.String()
			read, err := cluster.Decode(&file)
			if err != nil {
				t.Fatal(err)
			}
			var again bytes.Buffer
			if err := cluster.Encode(&again, read); err != nil {
				t.Fatal(err)
			}
			if again.String() != first {
				t.Error("the decoded Snapshot encodes differently")
			}
			if len(read.Nodes) != len(saved.Nodes) || len(read.Workloads) != len(saved.Workloads) || len(read.Gaps) != len(saved.Gaps) {
				t.Errorf("%d nodes, %d workloads and %d gaps were read", len(read.Nodes), len(read.Workloads), len(read.Gaps))
			}
		})
	}
}

func TestEncodeEscapesControlCharacters(t *testing.T) {
	const evil = "a\x1b[2J\u009b31m\u202eb"
	var file bytes.Buffer
	if err := cluster.Encode(&file, clustertest.HA("v1.35.4", 1, 0, clustertest.OnNode("cp-1", func(n *cluster.Node) { n.OSImage = evil }))); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(file.String(), "\x1b\u009b\u202e") {
		t.Error("the file contains control characters")
	}
	read, err := cluster.Decode(&file)
	if err != nil || read.Nodes[0].OSImage != evil {
		t.Errorf("decoded as %q (%v)", read.Nodes[0].OSImage, err)
	}
}

func TestDecodeRejects(t *testing.T) {
	for name, test := range map[string]struct{ file, want string }{
		"nothing":                     {"", "not a saved Snapshot"},
		"something else":              {`{"apiVersion":"v1","kind":"List"}`, `kind "List" of apiVersion "v1"`},
		"an invalid format":           {`{"apiVersion":"snapshot.refit.dev/vnext","kind":"Snapshot"}`, "invalid format"},
		"a newer format":              {`{"apiVersion":"snapshot.refit.dev/v2","kind":"Snapshot","nodes":"elsewhere"}`, "its format is 2, and this version reads up to 1"},
		"a field of another type":     {`{"apiVersion":"snapshot.refit.dev/v1","kind":"Snapshot","nodes":"elsewhere"}`, "cannot unmarshal"},
		"a duplicate node":            {`{"apiVersion":"snapshot.refit.dev/v1","kind":"Snapshot","nodes":[{"name":"a"},{"name":"a"}]}`, `"a" is empty or not unique`},
		"pods of an unknown workload": {`{"apiVersion":"snapshot.refit.dev/v1","kind":"Snapshot","nodes":[{"name":"a","pods":[{"w":0,"n":1}]}]}`, "workload 0, which does not exist"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := cluster.Decode(strings.NewReader(test.file))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, want one with %q", err, test.want)
			}
			if newer := errors.Is(err, cluster.ErrNewerFormat); newer != strings.Contains(name, "newer") {
				t.Errorf("it is an ErrNewerFormat: %t", newer)
			}
		})
	}
}
