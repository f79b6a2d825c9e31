package host

import (
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

func TestParseUnit(t *testing.T) {
	got := unitOf(map[string]any{
		"LoadState": "loaded", "ActiveState": "activating", "SubState": "auto-restart", "Result": "exit-code",
		"NRestarts": uint32(7), "MainPID": uint32(42), "ExecMainStatus": int32(1),
		"ExecStart":    [][]any{{"/usr/bin/kubelet", []string{"/usr/bin/kubelet", "$KUBELET_ARGS"}, false, uint64(0)}},
		"FragmentPath": "/lib/systemd/system/kubelet.service", "DropInPaths": []string{"/etc/systemd/system/kubelet.service.d/10-kubeadm.conf"},
		"EnvironmentFiles": [][]any{{"/var/lib/kubelet/kubeadm-flags.env", true}}, "Environment": []string{"A=b"},
		"ActiveEnterTimestamp": uint64(1700000000000001), "Job": []any{uint32(3), "/job/3"},
	})
	want := Unit{
		Exists: true, Load: "loaded", Active: "activating", Sub: "auto-restart", Result: "exit-code", Restarts: 7, MainPID: 42, ExecStatus: 1,
		ExecStart: []string{"/usr/bin/kubelet", "$KUBELET_ARGS"}, Executable: "/usr/bin/kubelet", FragmentPath: "/lib/systemd/system/kubelet.service",
		DropIns:          []string{"/etc/systemd/system/kubelet.service.d/10-kubeadm.conf"},
		EnvironmentFiles: []string{"/var/lib/kubelet/kubeadm-flags.env"}, Environment: []string{"A=b"}, ActiveSince: time.Unix(1700000000, 1000), job: 3,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	if absent := unitOf(map[string]any{"LoadState": "not-found", "ActiveState": "inactive"}); absent.Exists || !absent.ActiveSince.IsZero() {
		t.Errorf("%+v", absent)
	}
}

func TestEndOfAJobFollowsFromItsUnit(t *testing.T) {
	for name, tc := range map[string]struct {
		verb string
		unit Unit
		want string
	}{
		"runs":                             {"restart", Unit{Active: "active", Result: "success"}, "done"},
		"a program that ran once and well": {"start", Unit{Active: "inactive", Result: "success"}, "done"},
		"ended badly":                      {"start", Unit{Active: "inactive", Result: "exit-code"}, "failed"},
		"failed":                           {"restart", Unit{Active: "failed"}, "failed"},
		"begins again and again":           {"restart", Unit{Active: "activating", Result: "exit-code"}, "failed"},
		"stopped":                          {"stop", Unit{Active: "inactive"}, "done"},
		"was killed when it was stopped":   {"stop", Unit{Active: "failed"}, "failed"},
		"was started again":                {"stop", Unit{Active: "active"}, "failed"},
	} {
		if got := tc.unit.verdict(tc.verb); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}

func TestLogHasNoControlCharactersAndFitsAStatus(t *testing.T) {
	got := readable(strings.Repeat("ä", 2*refitv1alpha1.MaxLogTail) + "\x1b[2J one\ntwo\x07\r\n")
	if utf8.RuneCountInString(got) != refitv1alpha1.MaxLogTail || !strings.HasSuffix(got, " [2J one\ntwo") || strings.ContainsAny(got, "\x1b\x07\r") {
		t.Errorf("%d characters, %q", utf8.RuneCountInString(got), got[len(got)-20:])
	}
}
