package access_test

import (
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/refit-dev/refit/internal/server/access"
)

// disk is a Store in memory.
type disk struct {
	sessions map[string]access.Sealed
	err      error
}

func (d *disk) Load() (map[string]access.Sealed, error) { return maps.Clone(d.sessions), d.err }

func (d *disk) Save(all map[string]access.Sealed) error {
	d.sessions = all
	return d.err
}

// restarted is a gate that starts with what is on a disk. It counts the errors that end no request.
func restarted(t *testing.T, d *disk) (b *bed, failures *int) {
	t.Helper()
	b, failures = newBed(), new(int)
	if err := b.KeepSessions(d, func(error) { *failures++ }); err != nil && d.err == nil {
		t.Fatal(err)
	}
	return b, failures
}

// A person who watches an upgrade must not be signed out because the server restarts while nobody
// can review tokens.
func TestASessionOutlastsTheServer(t *testing.T) {
	d := &disk{}
	first, _ := restarted(t, d)
	secret, p, err := first.SignIn(first.token(t))
	if err != nil || first.Allow(t.Context(), p, list) != nil {
		t.Fatal(err)
	}
	b, failures := restarted(t, d)
	b.cluster.down = true
	p, err = b.Session(t.Context(), secret)
	if err != nil || p.User.Name != "kim" || p.Token != "t1" || !p.Session || b.Allow(t.Context(), p, list) != nil {
		t.Errorf("the session is %+v, %v", p, err)
	}
	other := access.Attributes{Verb: "patch", Group: "refit.dev", Resource: "clusterupgrades"}
	if err := b.Allow(t.Context(), p, other); !errors.Is(err, access.ErrUnreachable) {
		t.Errorf("a permission that was never reviewed: %v", err)
	}
	if _, err := b.Session(t.Context(), secret+"x"); !errors.Is(err, access.ErrUnauthenticated) {
		t.Errorf("another cookie: %v", err)
	}
	// Once the API server answers again, it decides again.
	b.cluster.down, b.cluster.users = false, nil
	b.now = b.now.Add(time.Minute)
	if _, err := b.Session(t.Context(), secret); !errors.Is(err, access.ErrUnauthenticated) {
		t.Errorf("a revoked token: %v", err)
	}
	if last, _ := restarted(t, d); *failures != 0 {
		t.Error("a session failed")
	} else if _, err := last.Session(t.Context(), secret); err == nil {
		t.Error("the session of a revoked token came back")
	}
}

func TestTheDiskCannotOpenASession(t *testing.T) {
	d := &disk{}
	b, _ := restarted(t, d)
	secret, _, err := b.SignIn(b.token(t))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(d.sessions)
	if err != nil || len(d.sessions) != 1 {
		t.Fatalf("%d sessions, %v", len(d.sessions), err)
	}
	for _, canary := range []string{"t1\"", "kim", secret} {
		if strings.Contains(string(raw), canary) {
			t.Errorf("%s has %q", raw, canary)
		}
	}
	// A session that is moved to another cookie does not open.
	stolen, _, _ := b.SignIn(b.token(t))
	all := slicesOf(d.sessions)
	d.sessions[all[0]], d.sessions[all[1]] = d.sessions[all[1]], d.sessions[all[0]]
	next, failures := restarted(t, d)
	for _, cookie := range []string{secret, stolen} {
		if _, err := next.Session(t.Context(), cookie); !errors.Is(err, access.ErrUnauthenticated) {
			t.Errorf("an exchanged session: %v", err)
		}
	}
	if *failures != 2 {
		t.Errorf("%d failures were reported", *failures)
	}
}

func slicesOf(m map[string]access.Sealed) (out []string) {
	for name := range m {
		out = append(out, name)
	}
	return out
}

func TestWhatDoesNotOutlastTheServer(t *testing.T) {
	d := &disk{}
	b, _ := restarted(t, d)
	own, _, err := b.SignInSelf(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out, p, _ := b.SignIn(b.token(t))
	b.SignOut(p)
	late, _, _ := b.SignIn(b.token(t))
	next, _ := restarted(t, d)
	for what, cookie := range map[string]string{"of a one-time code": own, "signed out": out} {
		if _, err := next.Session(t.Context(), cookie); !errors.Is(err, access.ErrUnauthenticated) {
			t.Errorf("%s: %v", what, err)
		}
	}
	next, _ = restarted(t, d)
	next.now = next.now.Add(9 * time.Hour)
	if _, err := next.Session(t.Context(), late); !errors.Is(err, access.ErrUnauthenticated) {
		t.Errorf("after nine hours: %v", err)
	}
}

func TestSessionsLastWithoutADisk(t *testing.T) {
	b, failures := restarted(t, &disk{err: errors.New("the disk is full")})
	secret, _, err := b.SignIn(b.token(t))
	if err != nil || *failures == 0 {
		t.Errorf("%v, %d failures", err, *failures)
	}
	if _, err := b.Session(t.Context(), secret); err != nil {
		t.Error(err)
	}
}
