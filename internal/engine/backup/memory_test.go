package backup

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"filippo.io/age"

	"github.com/refit-dev/refit/internal/engine/backup/seal"
	"github.com/refit-dev/refit/internal/upgrade/backup"
)

const (
	testCluster  = "11111111-2222-4333-8444-555555555555"
	otherCluster = "11111111-2222-4333-8444-666666666666"
	testUID      = "0a1b2c3d-0000-4000-8000-00000000000a"
	otherUID     = "0a1b2c3d-0000-4000-8000-00000000000b"
	planted      = "planted-secret-of-the-cluster"
)

var (
	testID  = backup.ID{UID: testUID, Attempt: 2}
	testNow = time.Date(2026, 11, 16, 10, 0, 0, 0, time.UTC)
)

// memory is a store in memory, with faults.
type memory struct {
	mu      sync.Mutex
	objects map[string][]byte
	now     time.Time
	log     []string // the keys of Put and Delete

	put func(key string, from io.Reader) (content []byte, keep bool, err error) // replaces Put
	get func(key string, content []byte) (io.Reader, error)                     // replaces Get
}

func newMemory() *memory { return &memory{objects: map[string][]byte{}, now: testNow} }

func (m *memory) Put(_ context.Context, key string, from io.Reader) error {
	put := m.put
	if put == nil {
		put = whole
	}
	content, keep, err := put(key, from)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.log = append(m.log, "put "+key)
	if keep {
		m.objects[key] = content
	}
	return err
}

// whole is the Put of a store without faults.
func whole(_ string, from io.Reader) ([]byte, bool, error) {
	content, err := io.ReadAll(from)
	return content, err == nil, err
}

func (m *memory) Get(_ context.Context, key string) (io.ReadCloser, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	content, ok := m.objects[key]
	if !ok {
		return nil, fmt.Errorf("%w: %s", backup.ErrNotFound, key)
	}
	if m.get == nil {
		return io.NopCloser(bytes.NewReader(content)), nil
	}
	body, err := m.get(key, content)
	return io.NopCloser(body), err
}

func (m *memory) Stat(_ context.Context, key string) (backup.Object, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	content, ok := m.objects[key]
	if !ok {
		return backup.Object{}, fmt.Errorf("%w: %s", backup.ErrNotFound, key)
	}
	return backup.Object{Key: key, Size: int64(len(content)), Modified: m.now}, nil
}

func (m *memory) List(_ context.Context, prefix string) ([]backup.Object, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var objects []backup.Object
	for key, content := range m.objects {
		if strings.HasPrefix(key, prefix) {
			objects = append(objects, backup.Object{Key: key, Size: int64(len(content)), Modified: m.now})
		}
	}
	return objects, nil
}

func (m *memory) Delete(_ context.Context, key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.log = append(m.log, "delete "+key)
	delete(m.objects, key)
	return nil
}

// with returns a copy of the store with some of its objects.
func (m *memory) with(objects map[string][]byte) *memory {
	return &memory{objects: maps.Clone(objects), now: m.now}
}

// keys are the keys of a test: recipients and their identity.
type keys struct {
	recipients []string
	identities []age.Identity
}

func newKeys(t *testing.T) keys {
	t.Helper()
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	return keys{[]string{identity.Recipient().String()}, []age.Identity{identity}}
}

// request returns a small backup. Each has another content.
func (k keys) request(cluster string, id backup.ID) Request {
	text := fmt.Sprintf("%s %s %s ", planted, cluster, id)
	return Request{
		ID: id, ClusterUID: cluster, Time: testNow, EtcdVersion: "3.6.6", Revision: func() int64 { return 41 }, Recipients: k.recipients,
		Sources: []Source{
			{Part: backup.PartEtcd, Write: write(strings.Repeat(text, 40))},
			{Part: backup.PartHost, Write: write(strings.Repeat(text, 7))},
		},
	}
}

func write(text string) func(context.Context, Sink) error {
	return func(_ context.Context, to Sink) error {
		_, err := io.WriteString(to, text)
		return err
	}
}

func mustStore(t *testing.T, to Target, r Request) Stored {
	t.Helper()
	stored, err := Store(t.Context(), to, r)
	if err != nil {
		t.Fatal(err)
	}
	return stored
}

func drillKey(t *testing.T) *seal.DrillKey {
	t.Helper()
	key, err := seal.NewDrillKey()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func newReader(content []byte) io.Reader { return bytes.NewReader(content) }

// undeletable is a store whose objects are locked.
type undeletable struct{ *memory }

func (undeletable) Delete(context.Context, string) error { return backup.ErrDenied }
