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

// TestNodeSurvivesRepeatedKills changes the packages of its machine, so it needs
// REFIT_NODE_PACKAGES: a directory with the package files of the target. Compile it with `go test
// -c` and run it in a node of a testbed cluster that was created with --install deb.
func TestNodeSurvivesRepeatedKills(t *testing.T) {
	dir := os.Getenv("REFIT_NODE_PACKAGES")
	if dir == "" {
		t.Skip("REFIT_NODE_PACKAGES is not set: this test changes the packages of its machine")
	}
	kills, _ := strconv.Atoi(os.Getenv("REFIT_TEST_KILLS"))
	next, err := filepath.Glob(filepath.Join(dir, "*.deb"))
	if err != nil || len(next) == 0 {
		t.Fatal("no packages", err)
	}
	d := Deb().(deb)
	d.fetch = os.Getenv("REFIT_NODE_FETCH") != ""
	n := &nodeUnderTest{T: t, deb: d, next: next, dir: "/var/lib/refit-test-rollback"}
	n.prepare()
	for i := range kills {
		n.killed(i)
		if t.Failed() {
			return
		}
	}
	n.install(next, Options{Hold: n.held})
	n.mustBeAt(n.after)
	n.install(n.previous, Options{Hold: n.held, Downgrade: true})
	n.mustBeAt(n.before)
	n.install(next, Options{Hold: n.held})
	n.mustBeAt(n.after)
}

type nodeUnderTest struct {
	*testing.T
	deb
	next, previous, names, held []string
	before, after               map[string]string
	dir                         string
	unfinished                  int
}

func (n *nodeUnderTest) prepare() {
	n.Helper()
	archives, err := readArchives(n.Context(), n.next, readDeb)
	n.must(err)
	n.names, n.after = namesOf(archives), map[string]string{}
	for _, a := range archives {
		n.after[a.name] = a.version
	}
	n.before, err = n.Installed(n.Context(), n.names...)
	n.must(err)
	n.held, err = n.Held(n.Context())
	n.must(err)
	start := time.Now()
	n.must(n.Prepare(n.Context(), n.dir, n.names))
	n.Logf("prepared %v in %v, held %v", n.before, time.Since(start), n.held)
	n.previous, err = Prepared(n.dir, n.names...)
	n.must(err)
}

func (n *nodeUnderTest) must(err error) {
	n.Helper()
	if err != nil {
		n.Fatalf("%v\n%s", err, logOf(err))
	}
}

func (n *nodeUnderTest) install(files []string, opts Options) {
	n.Helper()
	start := time.Now()
	n.must(n.Install(n.Context(), files, opts))
	n.Logf("installed %d packages in %v", len(files), time.Since(start))
}

// killed installs, kills dpkg with its children, configures, and continues or rolls back.
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
	configured := n.Configure(n.Context(), n.names)
	if configured != nil {
		n.unfinished++
	}
	n.Logf("round %d: killed %v after %v (%v); configure: %v", round, found, delay, err, configured)
	if round%2 == 0 {
		n.install(n.next, Options{Hold: n.held})
		n.mustBeAt(n.after)
	}
	n.install(n.previous, Options{Hold: n.held, Downgrade: true})
	n.mustBeAt(n.before)
}

func (n *nodeUnderTest) mustBeAt(want map[string]string) {
	n.Helper()
	got, err := n.Installed(n.Context(), n.names...)
	n.must(err)
	if fmt.Sprint(got) != fmt.Sprint(want) {
		n.Errorf("installed: %v, want %v", got, want)
	}
	problems, err := n.Verify(n.Context(), n.names)
	n.must(err)
	held, err := n.Held(n.Context())
	n.must(err)
	all, err := n.list(n.Context())
	n.must(err)
	var unfinished []string
	for _, s := range all {
		if s.unfinished() {
			unfinished = append(unfinished, s.binary)
		}
	}
	if len(problems)+len(unfinished) > 0 || !slices.Equal(held, n.held) {
		n.Errorf("problems: %v, unfinished: %v, held: %v", problems, unfinished, held)
	}
}

// children returns the processes of a name that this process started.
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
