package builder

import (
	"testing"

	"github.com/refit-dev/refit/test/testbed/versions"
)

func TestKeyDependsOnEveryInput(t *testing.T) {
	need := fake{name: "need", release: "v1"}
	base := fake{name: "thing", release: "v1", texts: []string{"ab", "c"}, from: []recipe{need}}
	cases := map[string]fake{
		"another component":         {name: "other", release: "v1", texts: base.texts, from: base.from},
		"another version":           {name: "thing", release: "v2", texts: base.texts, from: base.from},
		"another input":             {name: "thing", release: "v1", texts: []string{"ab", "d"}, from: base.from},
		"moved letter":              {name: "thing", release: "v1", texts: []string{"a", "bc"}, from: base.from},
		"additional input":          {name: "thing", release: "v1", texts: []string{"ab", "c", ""}, from: base.from},
		"missing input":             {name: "thing", release: "v1", texts: []string{"ab"}, from: base.from},
		"without its need":          {name: "thing", release: "v1", texts: base.texts},
		"another need":              {name: "thing", release: "v1", texts: base.texts, from: []recipe{fake{name: "need", release: "v2"}}},
		"a changed input of a need": {name: "thing", release: "v1", texts: base.texts, from: []recipe{fake{name: "need", release: "v1", texts: []string{"x"}}}},
	}
	seen := map[string]string{keyOf(base): "the base"}
	for situation, changed := range cases {
		key := keyOf(changed)
		if other, taken := seen[key]; taken {
			t.Errorf("%s has the key of %s", situation, other)
		}
		seen[key] = situation
		if len(key) != keyLength {
			t.Errorf("%s: key %q has not %d digits", situation, key, keyLength)
		}
	}
	again := base
	if keyOf(again) != keyOf(base) {
		t.Error("the key is not stable")
	}
}

func TestGoBinaryKeyDependsOnEveryInput(t *testing.T) {
	base := func() goBinaries {
		return goBinaries{
			name: "p", release: "v1", toolchain: "go1.26.8", staging: "v0.1", tags: "a", ldflags: "-s",
			modules: []goModule{{"m", "v1"}}, commands: []goCommand{{pkg: "m/c"}}, proofInputs: []string{"i"},
		}
	}
	changes := map[string]func(*goBinaries){
		"toolchain":    func(p *goBinaries) { p.toolchain = "go1.27" },
		"staging":      func(p *goBinaries) { p.staging = "v0.2" },
		"tags":         func(p *goBinaries) { p.tags = "b" },
		"ldflags":      func(p *goBinaries) { p.ldflags = "-w" },
		"module":       func(p *goBinaries) { p.modules[0].Version = "v2" },
		"command":      func(p *goBinaries) { p.commands[0].pkg = "m/d" },
		"binary name":  func(p *goBinaries) { p.commands[0].as = "e" },
		"proof inputs": func(p *goBinaries) { p.proofInputs[0] = "j" },
	}
	for what, change := range changes {
		changed := base()
		change(&changed)
		if keyOf(changed) == keyOf(base()) {
			t.Errorf("a change of the %s does not change the key", what)
		}
	}
}

func TestReleasesHaveDistinctEntriesUnlessShared(t *testing.T) {
	entries := map[string]string{}
	for _, version := range versions.Kubernetes() {
		release, err := versions.Lookup(version)
		if err != nil {
			t.Fatal(err)
		}
		p := partsOf("go1.26.8", release)
		for _, r := range []recipe{p.kubernetes, p.images, p.kubernetesDebs} {
			entry := cache{dir: "/c"}.entry(r)
			if other, taken := entries[entry]; taken {
				t.Errorf("%s and %s share %s", version, other, entry)
			}
			entries[entry] = version
		}
		if p.containerd.version() != versions.Containerd || p.debian.version() != versions.Debian {
			t.Errorf("%s: containerd and Debian do not depend on the release", version)
		}
	}
}
