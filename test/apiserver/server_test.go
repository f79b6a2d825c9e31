//go:build apiserver

package apiserver

import (
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/refit-dev/refit/test/testbed/figure"
)

func TestAServerOfEachVersionStartsAndIsGoneAfterItsTest(t *testing.T) {
	for _, version := range Versions(t) {
		var s *Server
		t.Run(version, func(t *testing.T) {
			begun := time.Now()
			s = Start(t, Options{Version: version})
			name := "apiserver_start_" + strings.ReplaceAll(strings.TrimPrefix(version, "v"), ".", "_")
			must(t, figure.Print(name, time.Since(begun).Seconds(), "s"))

			got, err := clientFor(t, s.RESTConfig()).Discovery().ServerVersion()
			must(t, err)
			if got.GitVersion != version {
				t.Errorf("the server is %s", got.GitVersion)
			}
			for _, p := range []*process{s.etcd, s.apiserver} {
				if !runs(t, p.pid, s.path) {
					t.Errorf("the process of %s is not found, so that its end would not be seen", p.log)
				}
			}
		})
		for _, p := range []*process{s.etcd, s.apiserver} {
			if runs(t, p.pid, s.path) {
				t.Errorf("the process of %s still runs", p.log)
			}
		}
		if _, err := os.Stat(s.path); err == nil {
			t.Errorf("%s is still there", s.path)
		}
	}
}

func TestAServerThatCannotStartFailsAtOnceWithItsLog(t *testing.T) {
	s, err := newServer(t, Options{Flags: []string{"--no-such-flag"}})
	must(t, err)
	begun := time.Now()
	err = s.start(t.Context())
	must(t, s.end())
	if err == nil || !strings.Contains(err.Error(), "no-such-flag") {
		t.Errorf("it says %v", err)
	}
	if took := time.Since(begun); took > readyDeadline/2 {
		t.Errorf("it took %s to say so", took)
	}
}

func TestAStoppedServerRestartsWithItsData(t *testing.T) {
	s := Start(t, Options{Audit: true})
	client := clientFor(t, s.RESTConfig())
	_, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "kept"}}, metav1.CreateOptions{})
	must(t, err)
	before := len(s.AuditOf(t, adminUser))

	s.Stop(t)
	if _, err := client.CoreV1().ConfigMaps("default").Get(t.Context(), "kept", metav1.GetOptions{}); err == nil {
		t.Error("a stopped server answers")
	}
	s.Restart(t)
	_, err = client.CoreV1().ConfigMaps("default").Get(t.Context(), "kept", metav1.GetOptions{})
	must(t, err)
	if got := len(s.AuditOf(t, adminUser)) - before; got != 1 {
		t.Errorf("%d requests were audited after the restart", got)
	}
}

func TestSharedServersAreOneForEachSetOfOptions(t *testing.T) {
	all := Versions(t)
	one, same := sharedOf(t, all[0]), sharedOf(t, all[0])
	if one != same {
		t.Error("two tests with the same options have two servers")
	}
	if other := sharedOf(t, all[len(all)-1]); len(all) > 1 && one == other {
		t.Error("two versions are one server")
	}
}

// runs reports whether a process exists and has its data in a directory: the kernel may reuse its
// PID.
func runs(t *testing.T, pid int, dir string) bool {
	t.Helper()
	return strings.Contains(commandLine(pid), dir)
}
