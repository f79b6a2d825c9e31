package component

import (
	"slices"
	"testing"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

func TestRanges(t *testing.T) {
	for _, c := range []struct {
		situation, text, version string
		want                     bool
	}{
		{"no range", "", "1.2.3", true},
		{"lower bound", ">=1.1 <1.3", "1.1.0", true},
		{"patch within", ">=1.1 <1.3", "v1.2.9", true},
		{"upper bound", ">=1.1 <1.3", "1.3.0", false},
		{"pre-release of the upper bound", ">=1.1 <1.3", "1.3.0-rc.1", false},
		{"pre-release of the lower bound", ">=1.1 <1.3", "1.1.0-rc.1", true},
		{"pre-release that is named", ">=1.1.0-rc.2 <1.3", "1.1.0-rc.1", false},
		{"exact version", "=1.2.3", "v1.2.3", true},
		{"other patch", "=1.2.3", "1.2.4", false},
		{"greater than", ">1.2.3", "1.2.3", false},
		{"at most", "<=1.2.3", "1.2.3", true},
		{"build metadata", "=1.2.3", "1.2.3+k3s1", true},
	} {
		t.Run(c.situation, func(t *testing.T) {
			r, err := ParseRange(c.text)
			if err != nil {
				t.Fatal(err)
			}
			v, err := parseVersion(c.version)
			if err != nil {
				t.Fatal(err)
			}
			if got := r.Contains(v); got != c.want {
				t.Errorf("%q contains %s: %t, want %t", c.text, c.version, got, c.want)
			}
		})
	}
	for _, text := range []string{"1.2", "~1.2", ">=", ">=x", ">=1.1,<1.3", ">= 1.1", "^1"} {
		if _, err := ParseRange(text); err == nil {
			t.Errorf("%q is accepted as a range", text)
		}
	}
}

func TestPeersMustFit(t *testing.T) {
	m, err := ParseMatrix([]refitv1alpha1.ComponentFit{
		{Version: ">=1.1 <1.2", Peers: ">=1.0 <1.3"},
		{Version: ">=1.2", Peers: ">=1.1"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for peer, want := range map[string]bool{"1.0.5": false, "1.1.0": true, "1.4.0": true} {
		version, _ := parseVersion("1.2.0")
		other, _ := parseVersion(peer)
		if got := m.FitsPeer(version, other); got != want {
			t.Errorf("1.2.0 fits a peer at %s: %t, want %t", peer, got, want)
		}
	}
	if _, err := ParseMatrix([]refitv1alpha1.ComponentFit{{Kubernetes: "1.36"}}); err == nil {
		t.Error("a version is accepted as a range")
	}
}

func TestPeersThatBlock(t *testing.T) {
	m, err := ParseMatrix([]refitv1alpha1.ComponentFit{{Version: ">=1.2", Peers: ">=1.1 <1.3"}})
	if err != nil {
		t.Fatal(err)
	}
	named := []Peer{{"turin", "v1.1.2"}, {"milan", "1.0.0"}, {"over", "0.1.0"}}
	problems, err := CheckPeers("liqo", "v1.2.0", m, []string{"turin", "rome", "milan", "rome"}, named)
	if err != nil {
		t.Fatal(err)
	}
	want := []PeerProblem{
		{"milan", ReasonPeerIncompatible, "liqo 1.2.0 does not work with peer milan, which has 1.0.0"},
		{"rome", ReasonPeerUnknown, "the version of liqo in peer rome is unknown"},
	}
	if !slices.Equal(problems, want) {
		t.Errorf("got %+v, want %+v", problems, want)
	}
	if _, err := CheckPeers("liqo", "v1.2.0", m, []string{"turin"}, []Peer{{"turin", "latest"}}); err == nil || err.Error() != `peer turin: invalid version "latest"` {
		t.Errorf("error %v", err)
	}
}

func TestOrderOfVersions(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"v1.1.2", "v1.2.0", true},
		{"0.9", "0.10", true},
		{"1.0.0-rc.1", "1.0.0", true},
		{"1.0.0", "v1.0.0", false},
		{"2", "1", false},
		{"latest", "1.0.0", false},
		{"1.0.0", "", false},
	} {
		if got := Older(c.a, c.b); got != c.want {
			t.Errorf("Older(%q, %q) = %v", c.a, c.b, got)
		}
	}
	if ValidateVersion("v1.2.0") != nil || ValidateVersion("latest") == nil || ValidateVersion("") == nil {
		t.Error("versions are validated wrongly")
	}
}
