//go:build apiserver

package apiserver

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// victimVariable makes the test below the process that is killed.
const victimVariable = "REFIT_APISERVER_VICTIM"

// waitToBeKilled starts a server and prints its processes.
func waitToBeKilled(t *testing.T) {
	t.Helper()
	s := Start(t, Options{})
	fmt.Printf("victim %d %d %s\n", s.etcd.pid, s.apiserver.pid, s.path)
	<-t.Context().Done()
}

func TestNoProcessOutlivesAKilledTest(t *testing.T) {
	if os.Getenv(victimVariable) != "" {
		waitToBeKilled(t)
	}
	victim := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	victim.Env = append(os.Environ(), victimVariable+"=1", "TMPDIR="+t.TempDir())
	out, err := victim.StdoutPipe()
	must(t, err)
	must(t, victim.Start())

	var etcd, apiserver int
	var dir string
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if n, _ := fmt.Sscanf(lines.Text(), "victim %d %d %s", &etcd, &apiserver, &dir); n == 3 {
			break
		}
		t.Log(lines.Text())
	}
	if dir == "" || !runs(t, etcd, dir) || !runs(t, apiserver, dir) {
		t.Fatalf("etcd %d and kube-apiserver %d do not run", etcd, apiserver)
	}
	must(t, victim.Process.Kill())
	_ = victim.Wait() // it was killed
	err = poll(t.Context(), settleDeadline, "the programs to end", func() error {
		for _, pid := range []int{etcd, apiserver} {
			if runs(t, pid, dir) {
				return fmt.Errorf("%d still runs: %s", pid, commandLine(pid))
			}
		}
		return nil
	})
	must(t, err)
}

// commandLine is empty for a process that has exited, even if it is a zombie.
func commandLine(pid int) string {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	if err != nil {
		return ""
	}
	return strings.ReplaceAll(string(text), "\x00", " ")
}
