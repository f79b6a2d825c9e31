package skew

import (
	"fmt"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]Version{
		"v1.36.3":          {1, 36, 3},
		"1.36.3":           {1, 36, 3},
		"v1.36.3-rc.1":     {1, 36, 3},
		"v1.36.3+vendor.1": {1, 36, 3},
		"1.36":             {},
		"v1.36":            {},
		"latest":           {},
		"":                 {},
		"--help":           {},
		"$(reboot)":        {},
		"v1.36.3; reboot":  {},
		"v1.36.3 ":         {},
	} {
		got, err := Parse(text)
		if got != want || (err != nil) != want.IsZero() {
			t.Errorf("Parse(%q) = %v, %v; want %v", text, got, err, want)
		}
	}
}

func TestSupportedSkew(t *testing.T) {
	tests := []struct {
		situation string
		fits      func(v, w Version) bool
		v, w      string
		want      bool
	}{
		{"a kubelet of the same version", KubeletFits, "v1.36.3", "v1.36.3", true},
		{"a kubelet with a newer patch", KubeletFits, "v1.36.4", "v1.36.3", true},
		{"a kubelet three minor versions older", KubeletFits, "v1.33.0", "v1.36.3", true},
		{"a kubelet four minor versions older", KubeletFits, "v1.32.9", "v1.36.3", false},
		{"a kubelet newer than its API server", KubeletFits, "v1.37.0", "v1.36.3", false},
		{"API servers one minor version apart", APIServersFit, "v1.35.4", "v1.36.3", true},
		{"API servers one minor version apart, the other way round", APIServersFit, "v1.36.3", "v1.35.4", true},
		{"API servers two minor versions apart", APIServersFit, "v1.34.4", "v1.36.3", false},
		{"a scheduler one minor version older", ControllerFits, "v1.35.4", "v1.36.3", true},
		{"a scheduler two minor versions older", ControllerFits, "v1.34.4", "v1.36.3", false},
		{"a scheduler newer than its API server", ControllerFits, "v1.37.1", "v1.36.3", false},
	}
	for _, test := range tests {
		t.Run(test.situation, func(t *testing.T) {
			if got := test.fits(must(t, test.v), must(t, test.w)); got != test.want {
				t.Errorf("%s beside %s: %v, want %v", test.v, test.w, got, test.want)
			}
		})
	}
}

func TestPathBetween(t *testing.T) {
	all := Scope{ControlPlane: true, Workers: true}
	tests := []struct {
		situation        string
		from, to, oldest string
		scope            Scope
		want             string // hops, a star where workers follow
	}{
		{"one minor version", "v1.35.4", "v1.36.3", "v1.35.4", all, "v1.36.3*"},
		{"a patch release", "v1.36.1", "v1.36.3", "v1.36.1", all, "v1.36.3*"},
		{"three minor versions, workers once", "v1.34.4", "v1.37.1", "v1.34.4", all, "v1.35.0 v1.36.0 v1.37.1*"},
		{"four minor versions, workers twice", "v1.33.1", "v1.37.1", "v1.33.1", all, "v1.34.0 v1.35.0 v1.36.0* v1.37.1*"},
		{"older workers follow earlier", "v1.34.4", "v1.37.1", "v1.32.1", all, "v1.35.0* v1.36.0 v1.37.1*"},
		{"workers catch up before the control plane", "v1.36.3", "v1.37.1", "v1.33.1", all, "v1.36.3* v1.37.1*"},
		{"no workers", "v1.35.4", "v1.36.3", "", all, "v1.36.3*"},
		{"the control plane only", "v1.34.4", "v1.36.3", "v1.34.4", Scope{ControlPlane: true}, "v1.35.0 v1.36.3"},
		{"workers only, after the control plane", "v1.37.1", "v1.37.1", "v1.34.4", Scope{Workers: true}, "v1.37.1*"},
		{"workers only, to a version older than the control plane", "v1.37.1", "v1.36.3", "v1.34.4", Scope{Workers: true}, "v1.36.3*"},
		{"an upgrade that was started by hand", "v1.36.3", "v1.36.3", "v1.35.4", all, "v1.36.3*"},
		{"a downgrade", "v1.36.3", "v1.35.4", "v1.35.4", all, "error: the control plane runs v1.36.3"},
		{"workers newer than the control plane", "v1.35.4", "v1.36.3", "v1.35.4", Scope{Workers: true}, "error: workers at v1.36.3 are not supported"},
	}
	for _, test := range tests {
		t.Run(test.situation, func(t *testing.T) {
			var oldest Version
			if test.oldest != "" {
				oldest = must(t, test.oldest)
			}
			path, err := PathBetween(must(t, test.from), must(t, test.to), oldest, test.scope)
			if got := say(path, err); got != test.want && (err == nil || !strings.HasPrefix(got, test.want)) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// Following a path never violates the skew policy, and ends at the target, for all versions.
func TestPathFollowsThePolicy(t *testing.T) {
	for from := 28; from <= 40; from++ {
		for to := from; to <= 40; to++ {
			for oldest := from - KubeletMinorsBehind; oldest <= from; oldest++ {
				path, err := PathBetween(Version{1, from, 1}, Version{1, to, 2}, Version{1, oldest, 0}, Scope{ControlPlane: true, Workers: true})
				if err != nil {
					t.Fatal(err)
				}
				follow(t, path, Version{1, from, 1}, Version{1, oldest, 0})
			}
		}
	}
}

func follow(t *testing.T, path Path, controlPlane, worker Version) {
	t.Helper()
	for i, hop := range path.Hops {
		if !APIServersFit(controlPlane, hop) || !KubeletFits(worker, hop) {
			t.Fatalf("%v: at hop %s with the control plane at %s and workers at %s", path, hop, controlPlane, worker)
		}
		controlPlane = hop
		if path.WorkersFollow[i] {
			worker = hop
		}
	}
	if controlPlane != path.To || worker != path.To {
		t.Fatalf("%v ends with the control plane at %s and workers at %s", path, controlPlane, worker)
	}
}

func TestEtcdStep(t *testing.T) {
	tests := []struct {
		situation, from, to, want string
	}{
		{"a patch", "3.6.6", "3.6.8-0", ""},
		{"the floor of 3.5", "3.5.26-0", "3.6.8-0", ""},
		{"below the floor of 3.5", "3.5.24", "3.6.8", "etcd 3.5.24 must first be upgraded to 3.5.26 or later"},
		{"from 3.5 below the floor to a later 3.5", "3.5.10", "3.5.26", ""},
		{"the next minor version", "3.6.8", "3.7.0", ""},
		{"two minor versions", "3.5.30", "3.7.0", "etcd cannot be upgraded from 3.5.30 to 3.7.0: it supports one minor version"},
		{"the running one is newer", "3.7.0", "3.6.8", ""},
		{"another major version", "3.7.0", "4.0.0", "etcd cannot be upgraded from 3.7.0 to 4.0.0"},
	}
	for _, test := range tests {
		t.Run(test.situation, func(t *testing.T) {
			reason, err := EtcdStep(test.from, test.to)
			if err != nil || !strings.HasPrefix(reason, test.want) || (reason == "") != (test.want == "") {
				t.Errorf("got %q, %v; want %q", reason, err, test.want)
			}
		})
	}
	if _, err := EtcdStep("unknown", "3.6.8"); err == nil {
		t.Error("an invalid version is accepted")
	}
	if !EtcdStays("3.7.0", "3.6.8-0") || EtcdStays("3.6.6", "3.6.8") || EtcdStays("3.6.8", "3.6.8-0") {
		t.Error("etcd stays only if it is newer")
	}
}

func say(path Path, err error) string {
	if err != nil {
		return "error: " + err.Error()
	}
	var out []string
	for i, hop := range path.Hops {
		text := hop.String()
		if path.WorkersFollow[i] {
			text += "*"
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

func must(t *testing.T, text string) Version {
	t.Helper()
	v, err := Parse(text)
	if err != nil {
		t.Fatal(fmt.Errorf("bad test: %w", err))
	}
	return v
}
