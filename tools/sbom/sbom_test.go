package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

func TestTheDocumentListsEveryModuleOfABinary(t *testing.T) {
	// The binary of a test records no modules.
	binary := filepath.Join(t.TempDir(), "language")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "../language").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	first, second := filepath.Join(t.TempDir(), "sbom_linux.spdx.json"), filepath.Join(t.TempDir(), "sbom_linux.spdx.json")
	for _, to := range []string{first, second} {
		if err := run("1767225600", "v1.2.3", "abc", to, []string{binary}); err != nil {
			t.Fatal(err)
		}
	}
	raw := read(t, first)
	if !bytes.Equal(raw, read(t, second)) {
		t.Error("two documents about one binary differ")
	}
	doc := decode(t, raw)
	info, err := buildinfo.ReadFile(binary)
	if err != nil || len(info.Deps) == 0 {
		t.Fatalf("%v, found %+v", err, info)
	}
	listed := map[string]string{}
	for _, p := range doc.Packages {
		listed[p.Name] = p.Version
	}
	for _, module := range info.Deps {
		if version, is := listed[module.Path]; !is || version != module.Version {
			t.Errorf("%s@%s is not listed: %q", module.Path, module.Version, version)
		}
	}
	if listed["stdlib"] == "" || len(doc.Packages) != len(info.Deps)+2 {
		t.Errorf("%d packages for %d modules", len(doc.Packages), len(info.Deps))
	}
	if from := doc.Packages[0].DownloadLocation; from != "git+https://github.com/refit-dev/refit@abc" {
		t.Errorf("the source is %s", from)
	}
	if doc.Name != "sbom_linux" || doc.CreationInfo.Created != "2026-01-01T00:00:00Z" {
		t.Errorf("%s of %s", doc.Name, doc.CreationInfo.Created)
	}
	checkIDs(t, doc)
}

func TestModulesOfADocument(t *testing.T) {
	for situation, c := range map[string]struct {
		module                     debug.Module
		name, version, from, purls string
		info                       string
	}{
		"a module": {
			debug.Module{Path: "github.com/Azure/go-ansiterm", Version: "v1.0.0+incompatible", Sum: "h1:abc="},
			"github.com/Azure/go-ansiterm", "v1.0.0+incompatible",
			"https://proxy.golang.org/github.com/!azure/go-ansiterm/@v/v1.0.0+incompatible.zip",
			"pkg:golang/github.com/azure/go-ansiterm@v1.0.0%2Bincompatible", "go.sum h1:abc=",
		},
		"a replaced module": {
			debug.Module{Path: "k8s.io/api", Version: "v1.0.0", Replace: &debug.Module{Path: "example.org/api", Version: "v1.1.0", Sum: "h1:def="}},
			"example.org/api", "v1.1.0", "https://proxy.golang.org/example.org/api/@v/v1.1.0.zip",
			"pkg:golang/example.org/api@v1.1.0", "go.sum h1:def= replaces k8s.io/api@v1.0.0",
		},
		"a directory instead of a module": {
			debug.Module{Path: "k8s.io/api", Version: "v1.0.0", Replace: &debug.Module{Path: "./api"}},
			"./api", "", "NOASSERTION", "pkg:golang/./api", "replaces k8s.io/api@v1.0.0",
		},
	} {
		p := moduleOf(&c.module)
		if p.Name != c.name || p.Version != c.version || p.DownloadLocation != c.from || p.SourceInfo != c.info || p.ExternalRefs[0].Locator != c.purls {
			t.Errorf("%s: %+v", situation, p)
		}
	}
}

func TestModulesWithSimilarNamesHaveDifferentIdentifiers(t *testing.T) {
	info := &debug.BuildInfo{Main: debug.Module{Path: "example.org/a"}, GoVersion: "go1.26.0", Deps: []*debug.Module{
		{Path: "example.org/b/c-d", Version: "v1.0.0"}, {Path: "example.org/b-c/d", Version: "v1.0.0"},
	}}
	checkIDs(t, newDocument("a", "v1", "abc", nil, info, time.Unix(0, 0)))
}

func TestTwoBinariesHaveDifferentNamespaces(t *testing.T) {
	info := &debug.BuildInfo{Main: debug.Module{Path: "example.org/a"}, GoVersion: "go1.26.0"}
	one := newDocument("a", "v1", "abc", []byte("one"), info, time.Unix(0, 0))
	two := newDocument("a", "v1", "abc", []byte("two"), info, time.Unix(0, 0))
	if one.DocumentNamespace == two.DocumentNamespace || !strings.HasPrefix(one.DocumentNamespace, "https://example.org/a/spdx/a-") {
		t.Errorf("%s and %s", one.DocumentNamespace, two.DocumentNamespace)
	}
}

func TestIncompleteArgumentsAreRefused(t *testing.T) {
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "out.spdx.json")
	plain := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(plain, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	for situation, c := range map[string]struct {
		seconds, version, commit, to string
		binaries                     []string
	}{
		"without a time":      {"", "v1", "abc", to, []string{binary}},
		"without a version":   {"1", "", "abc", to, []string{binary}},
		"without a commit":    {"1", "v1", "", to, []string{binary}},
		"without a file":      {"1", "v1", "abc", "", []string{binary}},
		"two binaries":        {"1", "v1", "abc", to, []string{binary, binary}},
		"a missing binary":    {"1", "v1", "abc", to, []string{binary + ".missing"}},
		"not a binary of Go":  {"1", "v1", "abc", to, []string{plain}},
		"no directory for it": {"1", "v1", "abc", filepath.Join(to, "out.spdx.json"), []string{binary}},
	} {
		if err := run(c.seconds, c.version, c.commit, c.to, c.binaries); err == nil {
			t.Errorf("%s: accepted", situation)
		}
	}
}

// checkIDs checks what SPDX demands of identifiers: their form, that each is unique, and that
// relationships refer to them.
func checkIDs(t *testing.T, doc document) {
	t.Helper()
	valid := regexp.MustCompile(`^SPDXRef-[A-Za-z0-9.-]+$`)
	ids := map[string]bool{doc.ID: true}
	for _, p := range doc.Packages {
		if ids[p.ID] || !valid.MatchString(p.ID) {
			t.Errorf("the identifier %s is invalid or not unique", p.ID)
		}
		ids[p.ID] = true
	}
	for _, r := range doc.Relationships {
		if !ids[r.From] || !ids[r.To] {
			t.Errorf("%s %s %s refers to nothing", r.From, r.Type, r.To)
		}
	}
	if len(doc.Relationships) != len(doc.Packages) {
		t.Errorf("%d relationships for %d packages", len(doc.Relationships), len(doc.Packages))
	}
}

func decode(t *testing.T, raw []byte) (doc document) {
	t.Helper()
	in := json.NewDecoder(bytes.NewReader(raw))
	in.DisallowUnknownFields()
	if err := in.Decode(&doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return content
}
