package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/refit-dev/refit/internal/agent/settings"
	"github.com/refit-dev/refit/internal/engine/artifact"
	"github.com/refit-dev/refit/internal/upgrade/node"
)

// A compromised key must not stay on a host because an upgrade is stuck there.
func TestKeysChangeDuringAnUpgrade(t *testing.T) {
	first, second := newPublicKey(t), newPublicKey(t)
	for name, keys := range map[string][]string{"replaced": {second}, "added": {first, second}, "all removed": nil} {
		t.Run(name, func(t *testing.T) {
			s, service, h := newSite(t)
			if _, err := place(t, s, newTestBundle(t, "binary 1", "{}", first)); err != nil {
				t.Fatal(err)
			}
			openUpgrade(t, h)
			service.calls = nil
			if _, err := place(t, s, newTestBundle(t, "binary 1", "{}", keys...)); err != nil {
				t.Fatal(err)
			}
			wantCalls(t, service, "start") // the agent reads its keys whenever it needs them
			pinned, err := artifact.LoadKeys(s.path(settings.Keys))
			if len(pinned) != len(keys) || (err != nil) != (len(keys) == 0) {
				t.Errorf("%d keys are pinned, %v", len(pinned), err)
			}
		})
	}
}

// A new agent waits for the end of the upgrade, but the keys that come with it do not.
func TestKeysOfANewAgentDoNotWaitForTheUpgrade(t *testing.T) {
	first, second := newPublicKey(t), newPublicKey(t)
	s, _, h := newSite(t)
	if _, err := place(t, s, newTestBundle(t, "binary 1", "{}", first)); err != nil {
		t.Fatal(err)
	}
	openUpgrade(t, h)
	if _, err := place(t, s, newTestBundle(t, "binary 2", "{}", second)); err == nil || node.FailureOf(err).Reason != "UpgradeOpen" {
		t.Errorf("%v", err)
	}
	pinned, err := artifact.LoadKeys(s.path(settings.Keys))
	if want, _ := artifact.ParsePublic([]byte(second)); err != nil || len(pinned) != 1 || pinned[0].ID != want.ID {
		t.Errorf("pinned %v, %v", pinned, err)
	}
	if got, err := os.ReadFile(s.path(binaryFile)); err != nil || string(got) != "binary 1" {
		t.Errorf("%q %v", got, err)
	}
}

func TestManualInstallationIsRefusedDuringAnUpgrade(t *testing.T) {
	for _, noStart := range []bool{false, true} {
		s, service, h := newSite(t)
		if _, err := place(t, s, newTestBundle(t, "binary 1", "{}", newPublicKey(t))); err != nil {
			t.Fatal(err)
		}
		openUpgrade(t, h)
		service.calls = nil
		var out bytes.Buffer
		manual := &bundle{binary: []byte("binary 2"), unit: unit}
		err := (&app{out: &out}).installOn(t.Context(), s, manual, installOptions{noStart: noStart})
		if err == nil || node.FailureOf(err).Reason != "UpgradeOpen" || strings.Contains(out.String(), "Installed") {
			t.Errorf("no start %t: %v\n%s", noStart, err, out.String())
		}
		if got, err := os.ReadFile(s.path(binaryFile)); err != nil || string(got) != "binary 1" {
			t.Errorf("no start %t: %q %v", noStart, got, err)
		}
	}
}
