package builder

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestClosureAddsEveryLink(t *testing.T) {
	root := t.TempDir()
	for link, target := range map[string]string{
		"sbin":                      "usr/sbin",
		"usr/sbin/iptables":         "/etc/alternatives/iptables",
		"etc/alternatives/iptables": "/sbin/iptables-nft",
		"usr/sbin/iptables-nft":     "../lib/multi",
		"usr/sbin/loop":             "loop",
	} {
		path := filepath.Join(root, link)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, path); err != nil {
			t.Fatal(err)
		}
	}
	if err := writeFile(filepath.Join(root, "usr/lib/multi"), "#!/bin/sh\n", 0o755); err != nil {
		t.Fatal(err)
	}
	taken := newClosure(root)
	if err := taken.add("/usr/sbin/iptables"); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"/usr/sbin/iptables": "/etc/alternatives/iptables", "/etc/alternatives/iptables": "/sbin/iptables-nft",
		"/sbin": "usr/sbin", "/usr/sbin/iptables-nft": "../lib/multi", "/usr/lib/multi": "",
	}
	if len(taken.files) != len(want) {
		t.Errorf("got %v", taken.files)
	}
	for path, link := range want {
		if got, there := taken.files[path]; !there || got.link != link {
			t.Errorf("%s: taken %t, link %q", path, there, got.link)
		}
	}
	if err := taken.add("/usr/sbin/loop"); err == nil || !strings.Contains(err.Error(), "too many") {
		t.Errorf("a link to itself: %v", err)
	}
	if err := taken.add("/usr/sbin/absent"); err == nil {
		t.Error("a missing file was added")
	}
}
