//go:build e2e

package rehearsal

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/refit-dev/refit/test/e2e/bed"
)

func TestBackupRehearsal(t *testing.T) {
	s := newSite(t, "rehearsal", bed.Newer)
	t.Run("clean cluster", s.testClean)
	t.Run("untouched cluster", s.testUntouched)
	t.Run("drill", s.testDrill)
	t.Run("corruptions", s.testCorruptions)
	t.Run("killed", s.testKilled)
	t.Run("breakages", s.testBreakages)
	t.Run("broken data", s.testBrokenData)
	s.nothingLeft(t)
}

// testClean rehearses the unchanged cluster: no finding, and nothing of it changes.
func (s *site) testClean(t *testing.T) {
	before, err := bed.StateOf(t.Context(), s.cp)
	bed.Must(t, err)
	live := s.live(t)
	got, err := s.rehearse(t)
	bed.Must(t, err)
	hop := got.Hops[0]
	if len(hop.Findings) > 0 || hop.Report.Listed < 50 || hop.Report.Objects < got.Figures.Keys/2 {
		t.Errorf("%+v", hop)
	}
	bed.Show(t, "rehearsal_total", got.Took.Seconds(), "s")
	bed.Show(t, "rehearsal_hop", hop.Took.Seconds(), "s")
	after, err := bed.StateOf(t.Context(), s.cp)
	bed.Must(t, err)
	bed.Must(t, after.Differences(before))
	if now := s.live(t); now != live {
		t.Errorf("the live cluster changed:\n%s\nbefore:\n%s", now, live)
	}
	s.nothingLeft(t)
}

// live returns what a rehearsal could change in the live cluster: its members, its endpoints, the
// processes of its control plane, and the names of its objects.
func (s *site) live(t *testing.T) string {
	t.Helper()
	text := s.etcdctl(t, "member", "list")
	for _, argv := range [][]string{
		{"get", "endpointslices", "kubernetes", "--output=jsonpath={.endpoints}"},
		{"get", "pods", "--namespace=kube-system", "--output=jsonpath={range .items[*]}{.metadata.name} {.status.containerStatuses[*].restartCount}{\"\\n\"}{end}"},
		{"get", "clusterroles,clusterrolebindings,roles,rolebindings,configmaps,secrets,services,priorityclasses,flowschemas", "--all-namespaces", "--output=name"},
	} {
		out, err := s.Kubectl(t.Context(), nil, argv...)
		bed.Must(t, err)
		text += string(out) + "\n"
	}
	return text
}

func (s *site) testDrill(t *testing.T) {
	s.backUp(t)
	got, err := s.run(t, figures{}, false)
	bed.Must(t, err)
	bed.Show(t, "drill_total", got.Took.Seconds(), "s")
	t.Run("hash of the live etcd", func(t *testing.T) {
		var answers []struct {
			HashKV struct {
				Hash            uint32 `json:"hash"`
				CompactRevision int64  `json:"compact_revision"`
			} `json:"HashKV"`
		}
		text := s.etcdctl(t, "endpoint", "hashkv", fmt.Sprintf("--rev=%d", got.Figures.HashRevision), "--write-out=json")
		bed.Must(t, json.Unmarshal([]byte(text), &answers))
		if live := answers[0].HashKV; live.CompactRevision == got.Figures.CompactRevision && live.Hash != got.Figures.HashKV {
			t.Errorf("the live hash is %+v, the restored one %+v", live, got.Figures)
		}
	})
	if _, err := s.run(t, got.Figures, false); err != nil {
		t.Errorf("the record of the backup does not match: %v", err)
	}
	for name, change := range map[string]func(*figures){
		"revision": func(f *figures) { f.Revision++ }, "keys": func(f *figures) { f.Keys++ },
		"hash": func(f *figures) { f.Hash++ }, "hash of keys": func(f *figures) { f.HashKV++ },
	} {
		expected := got.Figures
		change(&expected)
		if _, err := s.run(t, expected, false); err == nil || !strings.Contains(err.Error(), "BackupDiffers") {
			t.Errorf("%s: %v", name, err)
		}
	}
	s.exec(t, "dd", "if=/dev/urandom", "of="+backupFile, "bs=4096", "seek=20", "count=4", "conv=notrunc", "status=none")
	if _, err := s.run(t, got.Figures, false); err == nil {
		t.Error("a corrupted backup is accepted")
	}
	s.backUp(t)
	s.nothingLeft(t)
}

// testKilled kills the agent while the API server of the rehearsal runs. The next rehearsal removes
// what it left.
func (s *site) testKilled(t *testing.T) {
	request, err := bed.ReadOn(t.Context(), s.cp, "/root/request.json")
	bed.Must(t, err)
	if !strings.Contains(request, `"apiServer"`) {
		_, err := s.rehearse(t)
		bed.Must(t, err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := s.cp.Exec(t.Context(), bed.AgentBinary, "rehearse", "/root/request.json")
		done <- err
	}()
	bed.Must(t, bed.Until(t.Context(), "the API server of the rehearsal", time.Minute, func(ctx context.Context) error {
		_, err := s.cp.Exec(ctx, "systemctl", "is-active", "refit-rehearsal-apiserver")
		return err
	}))
	s.exec(t, "pkill", "--signal=KILL", "--full", "refit-agent rehearse")
	if err := <-done; err == nil {
		t.Fatal("the rehearsal ended before it was killed")
	}
	if out := s.exec(t, "systemctl", "is-active", "refit-rehearsal-etcd"); !strings.HasPrefix(out, "active") {
		t.Errorf("etcd is %s", out)
	}
	got, err := s.rehearse(t)
	bed.Must(t, err)
	if len(got.Hops[0].Findings) > 0 {
		t.Errorf("%+v", got.Hops[0].Findings)
	}
	s.nothingLeft(t)
}
