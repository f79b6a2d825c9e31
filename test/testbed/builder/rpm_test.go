package builder

import (
	"testing"

	"github.com/refit-dev/refit/test/testbed/progress"
	"github.com/refit-dev/refit/test/testbed/versions"
)

func TestRpmKeyDependsOnEveryInput(t *testing.T) {
	base := func() rpms {
		return rpms{name: "p", release: "v1", nfpm: fake{name: "nfpm"}, packages: []rpmPackage{{
			name: "a", version: "1", release: "1", summary: "a", requires: []string{"b"}, recommends: []string{"c"}, provides: []string{"d"},
			binaries: binariesOf(fake{name: "e"}, "/bin", "e"), texts: map[string]string{"/f": "f"}, config: map[string]string{"/g": "g"},
			directories: map[string]uint32{"/h": 0o755}, scripts: map[string]string{"postinstall": "i"},
		}}}
	}
	for what, change := range map[string]func(*rpms, *rpmPackage){
		"nfpm":             func(r *rpms, _ *rpmPackage) { r.nfpm = fake{name: "nfpm", release: "v2"} },
		"name":             func(_ *rpms, p *rpmPackage) { p.name = "z" },
		"version":          func(_ *rpms, p *rpmPackage) { p.version = "2" },
		"release":          func(_ *rpms, p *rpmPackage) { p.release = "2" },
		"summary":          func(_ *rpms, p *rpmPackage) { p.summary = "z" },
		"requires":         func(_ *rpms, p *rpmPackage) { p.requires = nil },
		"recommends":       func(_ *rpms, p *rpmPackage) { p.recommends = nil },
		"provides":         func(_ *rpms, p *rpmPackage) { p.provides = nil },
		"path of a binary": func(_ *rpms, p *rpmPackage) { p.binaries[0].to = "/z" },
		"name of a binary": func(_ *rpms, p *rpmPackage) { p.binaries[0].name = "z" },
		"entry of a binary": func(_ *rpms, p *rpmPackage) {
			p.binaries[0].from = fake{name: "e", release: "v2"}
		},
		"text":          func(_ *rpms, p *rpmPackage) { p.texts["/f"] = "z" },
		"configuration": func(_ *rpms, p *rpmPackage) { p.config["/g"] = "z" },
		"directory":     func(_ *rpms, p *rpmPackage) { p.directories["/h"] = 0o700 },
		"script":        func(_ *rpms, p *rpmPackage) { p.scripts["postinstall"] = "z" },
	} {
		changed := base()
		change(&changed, &changed.packages[0])
		if keyOf(changed) == keyOf(base()) {
			t.Errorf("the key does not depend on: %s", what)
		}
	}
}

func TestEntriesOfRpmNodesAreCurrent(t *testing.T) {
	b := New(t.TempDir(), progress.Discard())
	current, err := b.current(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var visit func(recipe)
	visit = func(r recipe) {
		if !current[b.cache.entry(r)] {
			t.Errorf("%s passes as superseded", title(r))
		}
		for _, need := range r.needs() {
			visit(need)
		}
	}
	for _, containerd := range []string{ContainerdDebian, ContainerdBuilt} {
		node, _, err := b.nodeRecipes(t.Context(), NodeImageSpec{Kubernetes: versions.Kubernetes()[0], Install: InstallRpm, Containerd: containerd})
		if err != nil {
			t.Fatal(err)
		}
		visit(node)
	}
}
