package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/refit-dev/refit/internal/upgrade/kubefacts"
)

func TestRenderWritesOneEntryPerLine(t *testing.T) {
	facts := kubefacts.Facts{
		Version: "v1.36.3",
		Flags: []kubefacts.Flag{
			{Component: kubefacts.Kubelet, Name: "config"},
			{Component: kubefacts.Kubelet, Name: "node-ip", Deprecated: "use <this> & that"},
		},
		Kubeadm:       kubefacts.Kubeadm{UpgradeNode: []kubefacts.Phase{{Name: "preflight"}}},
		KubeletConfig: kubefacts.Fields{"a", "a.b"},
	}
	text, err := render(&facts)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		`    {"component":"kubelet","name":"config"},`,
		`    {"component":"kubelet","name":"node-ip","deprecated":"use <this> & that"}`,
		`      {"name":"preflight"}`,
		`    "a.b"`,
	} {
		if !strings.Contains(string(text), "\n"+line+"\n") {
			t.Errorf("no line %q in\n%s", line, text)
		}
	}
	var again kubefacts.Facts
	if err := json.Unmarshal(text, &again); err != nil {
		t.Fatal(err)
	}
	if again.Flags[1] != facts.Flags[1] || !reflect.DeepEqual(again.KubeletConfig, facts.KubeletConfig) {
		t.Errorf("decoded as %+v", again)
	}
}

func TestVerifyDetectsStaleDataAndDoesNotWrite(t *testing.T) {
	dir := t.TempDir()
	facts := &kubefacts.Facts{Version: "v1.36.3", Pause: "3.10.1"}
	if err := keep(dir, facts, false); err != nil {
		t.Fatal(err)
	}
	if err := keep(dir, facts, true); err != nil {
		t.Errorf("current data: %v", err)
	}
	facts.Pause = "3.10.2"
	err := keep(dir, facts, true)
	if !errors.Is(err, errStale) || !strings.Contains(err.Error(), "-   \"pause\": \"3.10.1\"") || !strings.Contains(err.Error(), "+   \"pause\": \"3.10.2\"") {
		t.Errorf("stale data: %v", err)
	}
	if text, _ := os.ReadFile(filepath.Join(dir, "v1.36.json")); !strings.Contains(string(text), "3.10.1") {
		t.Error("verify wrote the file")
	}
}

func TestFirstDifference(t *testing.T) {
	for _, tc := range []struct{ there, fresh, want string }{
		{"a\nb", "a\nb", ""},
		{"a\nb", "a", "line 2\n- b\n+ (the end)"},
		{"a", "a\nb", "line 2\n- (the end)\n+ b"},
	} {
		if got := firstDifference(tc.there, tc.fresh); got != tc.want {
			t.Errorf("%q against %q: %q", tc.there, tc.fresh, got)
		}
	}
}

func TestDataIsFormattedByTheGenerator(t *testing.T) {
	for _, minor := range kubefacts.Supported() {
		path := filepath.Join("../../internal/upgrade/kubefacts/data", "v"+minor+".json")
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var facts kubefacts.Facts
		if err := json.Unmarshal(text, &facts); err != nil {
			t.Fatal(err)
		}
		again, err := render(&facts)
		if err != nil {
			t.Fatal(err)
		}
		if difference := firstDifference(string(text), string(again)); difference != "" {
			t.Errorf("%s: %s", path, difference)
		}
	}
}
