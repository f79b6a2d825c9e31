package etcd

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestSnapshotHasWhatEtcdutlReads(t *testing.T) {
	t.Parallel()
	s := start(t, "3.6.8", 1)
	c := s.on(0)
	for i := range 200 {
		_, err := c.local.Put(t.Context(), fmt.Sprintf("/registry/configmaps/%d", i%50), "value")
		must(t, err)
	}
	_, err := c.local.Delete(t.Context(), "/registry/configmaps/7")
	must(t, err)
	stream, err := c.Snapshot(t.Context())
	must(t, err)
	path := filepath.Join(t.TempDir(), "etcd.db")
	file, err := os.Create(path)
	must(t, err)
	_, err = io.Copy(file, stream)
	must(t, err)
	must(t, stream.Close())
	must(t, file.Close())

	got, err := ReadSnapshot(path)
	must(t, err)
	out, err := exec.CommandContext(t.Context(), filepath.Join(filepath.Dir(etcdBinary(t, "3.6.8")), "etcdutl"), "snapshot", "status", "-w", "json", path).Output()
	must(t, err)
	var want struct {
		Hash     uint32 `json:"hash"`
		Revision int64  `json:"revision"`
	}
	must(t, json.Unmarshal(out, &want))
	if got.Hash != want.Hash || got.Revision != want.Revision || got.Revision != 202 || got.Keys != 201 {
		t.Errorf("got %+v, etcdutl reads %+v", got, want)
	}
}

func TestChangedSnapshotIsRefused(t *testing.T) {
	t.Parallel()
	s := start(t, "3.6.8", 1)
	stream, err := s.on(0).Snapshot(t.Context())
	must(t, err)
	content, err := io.ReadAll(stream)
	must(t, err)
	for situation, change := range map[string]func([]byte) []byte{
		"truncated":    func(text []byte) []byte { return text[:len(text)-512] },
		"a bit":        func(text []byte) []byte { text[len(text)/2] ^= 1; return text },
		"empty":        func([]byte) []byte { return nil },
		"without hash": func(text []byte) []byte { return text[:len(text)-32] },
	} {
		path := filepath.Join(t.TempDir(), "etcd.db")
		must(t, os.WriteFile(path, change(append([]byte(nil), content...)), 0o600))
		if _, err := ReadSnapshot(path); err == nil {
			t.Errorf("%s: it is accepted", situation)
		}
	}
}
