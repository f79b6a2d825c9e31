package backup

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"filippo.io/age"

	"github.com/refit-dev/refit/internal/engine/backup/recovered"
	"github.com/refit-dev/refit/internal/upgrade/backup"
)

func TestStoredBackupIsVerified(t *testing.T) {
	k, m := newKeys(t), newMemory()
	at := Target{m, "prod/eu"}
	r := k.request(testCluster, testID)
	r.Drill = drillKey(t)
	stored := mustStore(t, at, r)
	if stored.Manifest.Revision != 41 || len(stored.Manifest.Parts) != 2 || !slices.Equal(stored.Manifest.Recipients, k.recipients) {
		t.Errorf("manifest %+v", stored.Manifest)
	}
	expected := backup.Expected{ID: testID, ClusterUID: testCluster, ManifestDigest: stored.Digest}
	for situation, identities := range map[string][]age.Identity{
		"without identity": nil, "with an identity": k.identities, "with the key of the drill": {r.Drill.Identity()},
	} {
		got, err := Verify(t.Context(), at, expected, identities)
		if err != nil || got.Digest != stored.Digest {
			t.Errorf("%s: %v", situation, err)
		}
	}
	if _, err := Verify(t.Context(), at, expected, newKeys(t).identities); err == nil {
		t.Error("the identity of another is accepted")
	}
	expected.ManifestDigest = "sha256:" + strings.Repeat("0", 64)
	if _, err := Verify(t.Context(), at, expected, nil); !errors.Is(err, backup.ErrOther) || !strings.Contains(err.Error(), stored.Digest) {
		t.Errorf("with another digest: %v", err)
	}
}

func TestManifestIsWrittenLastAndDeletedFirst(t *testing.T) {
	k, m := newKeys(t), newMemory()
	stored := mustStore(t, Target{m, ""}, k.request(testCluster, testID))
	manifest := backup.Key("", testID, backup.ManifestName(stored.Digest))
	if len(m.log) != 3 || m.log[2] != "put "+manifest {
		t.Errorf("written: %v", m.log)
	}
	mustStore(t, Target{m, ""}, k.request(testCluster, backup.ID{UID: otherUID, Attempt: 1}))
	m.log = nil
	if err := (Target{m, ""}).remove(t.Context(), attemptOf(t, m)); err != nil {
		t.Fatal(err)
	}
	if len(m.log) != 3 || m.log[0] != "delete "+manifest {
		t.Errorf("deleted: %v", m.log)
	}
}

func attemptOf(t *testing.T, m *memory) backup.Attempt {
	t.Helper()
	attempt, err := Target{m, ""}.attempt(t.Context(), testID)
	if err != nil {
		t.Fatal(err)
	}
	return attempt
}

func TestOnlyCiphertextIsStored(t *testing.T) {
	k, m := newKeys(t), newMemory()
	mustStore(t, Target{m, ""}, k.request(testCluster, testID))
	for key, content := range m.objects {
		if bytes.Contains(content, []byte(planted)) || strings.HasSuffix(key, ".age") && !bytes.HasPrefix(content, []byte("age-encryption.org/")) {
			t.Errorf("%s contains plain text", key)
		}
	}
}

func TestAttemptIsNotOverwritten(t *testing.T) {
	k, m := newKeys(t), newMemory()
	at := Target{m, ""}
	mustStore(t, at, k.request(testCluster, testID))
	before := len(m.log)
	if _, err := Store(t.Context(), at, k.request(testCluster, testID)); !errors.Is(err, backup.ErrExists) {
		t.Errorf("got %v", err)
	}
	if len(m.log) != before {
		t.Errorf("the store was changed: %v", m.log[before:])
	}
}

func TestFaultyStoreNeverCounts(t *testing.T) {
	manifest := func(key string) bool { return strings.Contains(key, "manifest-") }
	for situation, tt := range map[string]struct {
		fault func(*memory)
		want  error
	}{
		"answers and drops": {func(m *memory) {
			m.put = func(_ string, from io.Reader) ([]byte, bool, error) {
				_, err := io.Copy(io.Discard, from)
				return nil, false, err
			}
		}, backup.ErrCorrupt},
		"answers and drops the manifest": {func(m *memory) {
			m.put = func(key string, from io.Reader) ([]byte, bool, error) {
				content, _, err := whole(key, from)
				return content, !manifest(key), err
			}
		}, backup.ErrCorrupt},
		"answers before it has read": {func(m *memory) {
			m.put = func(string, io.Reader) ([]byte, bool, error) { return nil, true, nil }
		}, backup.ErrCorrupt},
		"keeps the first bytes": {func(m *memory) {
			m.put = func(key string, from io.Reader) ([]byte, bool, error) {
				content, _, err := whole(key, from)
				return content[:len(content)/2], true, err
			}
		}, backup.ErrCorrupt},
		"returns other bytes": {func(m *memory) {
			m.get = func(_ string, content []byte) (io.Reader, error) {
				other := bytes.Clone(content)
				other[len(other)/2] ^= 1
				return bytes.NewReader(other), nil
			}
		}, backup.ErrCorrupt},
		"returns another manifest": {func(m *memory) {
			m.get = func(key string, content []byte) (io.Reader, error) {
				if manifest(key) {
					content = append(content[:len(content)-1:len(content)-1], ' ')
				}
				return bytes.NewReader(content), nil
			}
		}, backup.ErrCorrupt},
		"full from the start": {func(m *memory) {
			m.put = func(string, io.Reader) ([]byte, bool, error) { return nil, false, backup.ErrFull }
		}, backup.ErrFull},
		"full during the upload": {func(m *memory) {
			m.put = func(_ string, from io.Reader) ([]byte, bool, error) {
				_, err := io.CopyN(io.Discard, from, 300)
				return nil, false, errors.Join(err, backup.ErrFull)
			}
		}, backup.ErrFull},
		"full at the manifest": {func(m *memory) {
			m.put = func(key string, from io.Reader) ([]byte, bool, error) {
				if manifest(key) {
					return nil, false, backup.ErrFull
				}
				return whole(key, from)
			}
		}, backup.ErrFull},
		"cut during the upload": {func(m *memory) {
			m.put = func(_ string, from io.Reader) ([]byte, bool, error) {
				_, err := io.CopyN(io.Discard, from, 300)
				return nil, false, errors.Join(err, backup.ErrUnreachable)
			}
		}, backup.ErrUnreachable},
		"cut while it is read back": {func(m *memory) {
			m.get = func(_ string, content []byte) (io.Reader, error) {
				return io.MultiReader(bytes.NewReader(content[:100]), iotest.ErrReader(backup.ErrUnreachable)), nil
			}
		}, backup.ErrUnreachable},
	} {
		t.Run(situation, func(t *testing.T) {
			k, m := newKeys(t), newMemory()
			tt.fault(m)
			if _, err := Store(t.Context(), Target{m, ""}, k.request(testCluster, testID)); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
			if len(m.objects) != 0 {
				t.Errorf("left %d objects", len(m.objects))
			}
		})
	}
}

func TestFailedSourceStoresNothing(t *testing.T) {
	broken := errors.New("etcd closed the stream")
	for situation, cause := range map[string]error{"own error": broken, "end of the stream": io.ErrUnexpectedEOF} {
		k, m := newKeys(t), newMemory()
		r := k.request(testCluster, testID)
		r.Sources[1].Write = func(_ context.Context, to Sink) error {
			_, err := to.Write(make([]byte, 1<<20))
			return errors.Join(err, cause)
		}
		if _, err := Store(t.Context(), Target{m, ""}, r); !errors.Is(err, cause) || len(m.objects) != 0 {
			t.Errorf("%s: left %d objects, %v", situation, len(m.objects), err)
		}
	}
}

func TestFailedCheckStoresNothing(t *testing.T) {
	k, m := newKeys(t), newMemory()
	damaged := errors.New("the database is damaged")
	r := k.request(testCluster, testID)
	r.Sources[0].Check = func(context.Context) error { return damaged }
	if _, err := Store(t.Context(), Target{m, ""}, r); !errors.Is(err, damaged) || len(m.objects) != 0 {
		t.Errorf("left %d objects, %v", len(m.objects), err)
	}
	for _, entry := range m.log {
		if strings.Contains(entry, "manifest") || strings.Contains(entry, backup.PartHost) {
			t.Errorf("%s although the check failed", entry)
		}
	}
}

func TestCheckEndsWhenTheReadBackFails(t *testing.T) {
	k, m := newKeys(t), newMemory()
	m.get = func(_ string, content []byte) (io.Reader, error) { return newReader(content[:len(content)-1]), nil }
	r := k.request(testCluster, testID)
	r.Sources[0].Check = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	if _, err := Store(t.Context(), Target{m, ""}, r); !errors.Is(err, backup.ErrCorrupt) || len(m.objects) != 0 {
		t.Errorf("left %d objects, %v", len(m.objects), err)
	}
}

func TestHangingSourceEndsWithItsStore(t *testing.T) {
	k, m := newKeys(t), newMemory()
	m.put = func(string, io.Reader) ([]byte, bool, error) { return nil, false, backup.ErrUnreachable }
	r := k.request(testCluster, testID)
	r.Sources[0].Write = func(ctx context.Context, _ Sink) error { <-ctx.Done(); return ctx.Err() }
	if _, err := Store(t.Context(), Target{m, ""}, r); !errors.Is(err, backup.ErrUnreachable) {
		t.Errorf("got %v", err)
	}
}

func TestCanceledBackupIsDeleted(t *testing.T) {
	k, m := newKeys(t), newMemory()
	ctx, cancel := context.WithCancel(t.Context())
	r := k.request(testCluster, testID)
	r.Sources[1].Write = func(ctx context.Context, _ Sink) error { cancel(); <-ctx.Done(); return ctx.Err() }
	if _, err := Store(ctx, Target{m, ""}, r); !errors.Is(err, context.Canceled) || len(m.objects) != 0 {
		t.Errorf("left %d objects, %v", len(m.objects), err)
	}
}

func TestInvalidRequestsAreRefusedBeforeAnyWrite(t *testing.T) {
	for situation, change := range map[string]func(*Target, *Request){
		"prefix with a parent": func(at *Target, _ *Request) { at.Prefix = "../x" },
		"no UID":               func(_ *Target, r *Request) { r.ID.UID = "" },
		"no cluster":           func(_ *Target, r *Request) { r.ClusterUID = "" },
		"no recipients":        func(_ *Target, r *Request) { r.Recipients = nil },
		"version with a v":     func(_ *Target, r *Request) { r.EtcdVersion = "v3.6.6" },
		"no time":              func(_ *Target, r *Request) { r.Time = time.Time{} },
		"parts out of order":   func(_ *Target, r *Request) { slices.Reverse(r.Sources) },
		"no part of etcd":      func(_ *Target, r *Request) { r.Sources = r.Sources[1:] },
		"wrong recipient":      func(_ *Target, r *Request) { r.Recipients = []string{"age1" + strings.Repeat("q", 58)} },
	} {
		k, m := newKeys(t), newMemory()
		at, r := Target{m, ""}, k.request(testCluster, testID)
		change(&at, &r)
		if _, err := Store(t.Context(), at, r); err == nil || len(m.log) != 0 {
			t.Errorf("%s: wrote %v, %v", situation, m.log, err)
		}
	}
}

// In its own goroutine, a panic would end the agent.
func TestPanicOfAnotherGoroutineIsAnError(t *testing.T) {
	for situation, change := range map[string]func(m *memory, r *Request){
		"a check":   func(_ *memory, r *Request) { r.Sources[0].Check = func(context.Context) error { panic("a bug") } },
		"the store": func(m *memory, _ *Request) { m.put = func(string, io.Reader) ([]byte, bool, error) { panic("a bug") } },
		"the store, while it reads": func(m *memory, _ *Request) {
			m.put = func(_ string, from io.Reader) ([]byte, bool, error) {
				_, _ = from.Read(make([]byte, 1))
				panic("a bug")
			}
		},
	} {
		t.Run(situation, func(t *testing.T) {
			k, m := newKeys(t), newMemory()
			r := k.request(testCluster, testID)
			change(m, &r)
			_, err := Store(t.Context(), Target{m, ""}, r)
			if p, is := errors.AsType[*recovered.Panic](err); !is || p.Value != "a bug" || len(m.objects) > 0 {
				t.Errorf("got %v, stored: %d", err, len(m.objects))
			}
		})
	}
}

func TestUploadEndsWhenItsSourcePanics(t *testing.T) {
	k, m := newKeys(t), newMemory()
	ended := make(chan error, 1)
	m.put = func(key string, from io.Reader) ([]byte, bool, error) {
		content, keep, err := whole(key, from)
		ended <- err
		return content, keep, err
	}
	r := k.request(testCluster, testID)
	r.Sources[0].Write = func(context.Context, Sink) error { panic("a bug") }
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic is hidden")
			}
		}()
		_, _ = Store(t.Context(), Target{m, ""}, r)
	}()
	if err := <-ended; err == nil || len(m.objects) > 0 {
		t.Errorf("the object ended with %v, stored: %d", err, len(m.objects))
	}
}
