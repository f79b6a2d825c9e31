package packages

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestNodeIsKilledAgainAndAgain changes the machine that it runs on, so it asks to be told: REFIT_NODE_PACKAGES is a folder with the package files of the
// target. It is compiled with `go test -c` and run in a node of a testbed cluster that was made with --install deb.
func TestNodeIsKilledAgainAndAgain(t *testing.T) {
	folder := os.Getenv("REFIT_NODE_PACKAGES")
	if folder == "" {
		t.Skip("REFIT_NODE_PACKAGES is not set: this test changes the packages of its machine")
	}
	kills, _ := strconv.Atoi(os.Getenv("REFIT_TEST_KILLS"))
	next, err := filepath.Glob(filepath.Join(folder, "*.deb"))
	if err != nil || len(next) == 0 {
		t.Fatal("no packages", err)
	}
	d := Deb().(deb)
	d.fetch = os.Getenv("REFIT_NODE_FETCH") != ""
	n := &nodeUnderTest{T: t, deb: d, next: next, dir: "/var/lib/refit-test-back"}
	n.begin()
	for i := range kills {
		n.killed(i)
		if t.Failed() {
			return
		}
	}
	n.went(next, Options{Hold: n.held})
	n.stands(n.after)
	n.went(n.back, Options{Hold: n.held, Downgrade: true})
	n.stands(n.before)
	n.went(next, Options{Hold: n.held})
	n.stands(n.after)
}

type nodeUnderTest struct {
	*testing.T
	deb
	next, back, names, held []string
	before, after           map[string]string
	dir                     string
	torn                    int
}

func (n *nodeUnderTest) begin() {
	n.Helper()
	archives, err := readArchives(n.Context(), n.next)
	n.no(err)
	n.names, n.after = namesOf(archives), map[string]string{}
	for _, a := range archives {
		n.after[a.name] = a.version
	}
	n.before, err = n.Installed(n.Context(), n.names...)
	n.no(err)
	n.held, err = n.Held(n.Context())
	n.no(err)
	start := time.Now()
	n.no(n.Prepare(n.Context(), n.dir, n.names))
	n.Logf("prepared %v in %v, held %v", n.before, time.Since(start), n.held)
	n.back, err = Prepared(n.dir, n.names...)
	n.no(err)
}

func (n *nodeUnderTest) no(err error) {
	n.Helper()
	if err != nil {
		n.Fatalf("%v\n%s", err, logOf(err))
	}
}

func (n *nodeUnderTest) went(files []string, opts Options) {
	n.Helper()
	start := time.Now()
	n.no(n.Install(n.Context(), files, opts))
	n.Logf("installed %d packages in %v", len(files), time.Since(start))
}

// killed installs, kills dpkg with all that it started, mends, and goes on or back.
func (n *nodeUnderTest) killed(round int) {
	n.Helper()
	done := make(chan error, 1)
	go func() { done <- n.Install(n.Context(), n.next, Options{Hold: n.held}) }()
	delay := time.Duration(rand.IntN(6000)) * time.Millisecond
	time.Sleep(delay)
	found := children(n.Context(), "dpkg")
	for _, pid := range found {
		_ = syscall.Kill(-pid, syscall.SIGKILL)
	}
	err := <-done
	mended := n.Configure(n.Context(), n.names)
	if mended != nil {
		n.torn++
	}
	n.Logf("round %d: killed %v after %v (%v); mend: %v", round, found, delay, err, mended)
	if round%2 == 0 {
		n.went(n.next, Options{Hold: n.held})
		n.stands(n.after)
	}
	n.went(n.back, Options{Hold: n.held, Downgrade: true})
	n.stands(n.before)
}

func (n *nodeUnderTest) stands(want map[string]string) {
	n.Helper()
	got, err := n.Installed(n.Context(), n.names...)
	n.no(err)
	if fmt.Sprint(got) != fmt.Sprint(want) {
		n.Errorf("installed: %v, want %v", got, want)
	}
	problems, err := n.Verify(n.Context(), n.names)
	n.no(err)
	held, err := n.Held(n.Context())
	n.no(err)
	all, err := n.list(n.Context())
	n.no(err)
	var torn []string
	for _, s := range all {
		if s.unfinished() {
			torn = append(torn, s.binary)
		}
	}
	if len(problems)+len(torn) > 0 || !slices.Equal(held, n.held) {
		n.Errorf("problems: %v, torn: %v, held: %v", problems, torn, held)
	}
}

// children are the processes of a name that this process started.
func children(ctx context.Context, name string) []int {
	var found []int
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, stat := range stats {
		text, err := os.ReadFile(stat)
		if err != nil || ctx.Err() != nil {
			continue
		}
		f := strings.Fields(string(text))
		if len(f) > 4 && f[1] == "("+name+")" && f[3] == strconv.Itoa(os.Getpid()) {
			pid, _ := strconv.Atoi(f[0])
			found = append(found, pid)
		}
	}
	return found
}
