package access_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/refit-dev/refit/internal/server/access"
)

var (
	errDown = errors.New("connection refused")
	list    = access.Attributes{Verb: "list", Group: "refit.dev", Resource: "clusterupgrades"}
)

// cluster answers reviews, and counts them.
type cluster struct {
	users   map[string]string // by token
	allowed map[string]bool   // by user
	groups  []string
	down    bool
	reviews int
}

func (c *cluster) Authenticate(_ context.Context, token string) (access.User, error) {
	c.reviews++
	switch name := c.users[token]; {
	case c.down:
		return access.User{}, errDown
	case name == "":
		return access.User{}, access.ErrRejected
	default:
		return access.User{Name: name, Groups: c.groups}, nil
	}
}

func (c *cluster) Self(context.Context) (access.User, error) {
	if c.down {
		return access.User{}, errDown
	}
	return access.User{Name: "admin"}, nil
}

func (c *cluster) Allowed(_ context.Context, user access.User, _ access.Attributes) (bool, error) {
	c.reviews++
	if c.down {
		return false, errDown
	}
	return c.allowed[user.Name], nil
}

func (c *cluster) SelfAllowed(ctx context.Context, a access.Attributes) (bool, error) {
	return c.Allowed(ctx, access.User{Name: "admin"}, a)
}

// bed is a gate with a clock.
type bed struct {
	*access.Gate
	cluster *cluster
	now     time.Time
}

func newBed() *bed {
	b := &bed{now: time.Now(), cluster: &cluster{users: map[string]string{"t1": "kim"}, allowed: map[string]bool{"kim": true, "admin": true}}}
	b.Gate = access.NewGate(b.cluster, func() time.Time { return b.now }, func(err error) bool { return errors.Is(err, errDown) })
	return b
}

func free() error { return nil }

func (b *bed) token(t *testing.T) access.Principal {
	t.Helper()
	p, err := b.Token(t.Context(), "t1", free)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestARevokedTokenIsRejectedAfterTheCacheExpires(t *testing.T) {
	b := newBed()
	if p := b.token(t); p.User.Name != "kim" {
		t.Errorf("the user is %+v", p)
	}
	delete(b.cluster.users, "t1")
	b.now = b.now.Add(29 * time.Second)
	b.token(t)
	if b.cluster.reviews != 1 {
		t.Errorf("%d reviews within the cache's time", b.cluster.reviews)
	}
	b.now = b.now.Add(2 * time.Second)
	if _, err := b.Token(t.Context(), "t1", free); !errors.Is(err, access.ErrUnauthenticated) {
		t.Errorf("a revoked token: %v", err)
	}
}

func TestAGuessedTokenIsLimitedBeforeItsReview(t *testing.T) {
	b := newBed()
	if _, err := b.Token(t.Context(), "x", func() error { return access.ErrLimited }); !errors.Is(err, access.ErrLimited) || b.cluster.reviews != 0 {
		t.Errorf("%v after %d reviews", err, b.cluster.reviews)
	}
}

func TestARefusalIsReviewedSoonAndAPermissionLater(t *testing.T) {
	b := newBed()
	p := b.token(t)
	b.cluster.allowed["kim"] = false
	var forbidden *access.ForbiddenError
	if err := b.Allow(t.Context(), p, list); !errors.As(err, &forbidden) || forbidden.Missing != list {
		t.Errorf("got %v", err)
	}
	b.cluster.allowed["kim"] = true
	b.now = b.now.Add(6 * time.Second)
	if err := b.Allow(t.Context(), p, list); err != nil {
		t.Errorf("6 s after it was granted: %v", err)
	}
	b.cluster.allowed["kim"] = false
	b.now = b.now.Add(29 * time.Second)
	if err := b.Allow(t.Context(), p, list); err != nil {
		t.Errorf("29 s after it was withdrawn: %v", err)
	}
	b.now = b.now.Add(2 * time.Second)
	if err := b.Allow(t.Context(), p, list); err == nil {
		t.Error("31 s after it was withdrawn, it is granted")
	}
}

func TestAnAdmittedSessionReadsDuringAnOutageAndNobodyElse(t *testing.T) {
	b := newBed()
	secret, p, err := b.SignIn(b.token(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Allow(t.Context(), p, list); err != nil {
		t.Fatal(err)
	}
	b.cluster.down = true
	b.now = b.now.Add(time.Hour)
	p, err = b.Session(t.Context(), secret)
	if err != nil || b.Allow(t.Context(), p, list) != nil {
		t.Errorf("the session: %v", err)
	}
	other := list
	other.Verb = "approve"
	if err := b.Allow(t.Context(), p, other); !errors.Is(err, access.ErrUnreachable) {
		t.Errorf("a permission that was not reviewed: %v", err)
	}
	if _, err := b.Token(t.Context(), "t1", free); !errors.Is(err, access.ErrUnreachable) {
		t.Errorf("a token: %v", err)
	}
}

func TestASessionEnds(t *testing.T) {
	for situation, end := range map[string]func(*bed, access.Principal){
		"by signing out":           func(b *bed, p access.Principal) { b.SignOut(p) },
		"after 8 hours":            func(b *bed, _ access.Principal) { b.now = b.now.Add(8 * time.Hour) },
		"with its token's account": func(b *bed, _ access.Principal) { delete(b.cluster.users, "t1"); b.now = b.now.Add(31 * time.Second) },
	} {
		t.Run(situation, func(t *testing.T) {
			b := newBed()
			secret, p, err := b.SignIn(b.token(t))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := b.Session(t.Context(), secret); err != nil {
				t.Fatal(err)
			}
			end(b, p)
			if _, err := b.Session(t.Context(), secret); !errors.Is(err, access.ErrUnauthenticated) {
				t.Errorf("the session: %v", err)
			}
			if _, err := b.Repeat(t.Context(), p); !errors.Is(err, access.ErrUnauthenticated) {
				t.Errorf("its stream: %v", err)
			}
		})
	}
	if _, err := newBed().Session(t.Context(), "guessed"); !errors.Is(err, access.ErrUnauthenticated) {
		t.Errorf("a guessed cookie: %v", err)
	}
}

func TestASessionDoesNotOutliveItsToken(t *testing.T) {
	const token = "e30.eyJleHAiOjE3OTUwMDAwMDB9.c2ln" // exp 1795000000
	b := newBed()
	b.now, b.cluster.users[token] = time.Unix(1795000000-60, 0), "kim"
	p, err := b.Token(t.Context(), token, free)
	if err != nil {
		t.Fatal(err)
	}
	if _, p, err = b.SignIn(p); err != nil || p.Expires.Unix() != 1795000000 {
		t.Errorf("it expires at %s, %v", p.Expires, err)
	}
}

func TestAOneTimeCodeIsValidOnceAndForTenMinutes(t *testing.T) {
	now := time.Now()
	codes := access.NewCodes(func() time.Time { return now })
	code, late := codes.Issue(), codes.Issue()
	if len(code) != 22 || code == late { // 128 bits in base64
		t.Errorf("codes are %q and %q", code, late)
	}
	if codes.Redeem("guessed") || codes.Redeem("") {
		t.Error("a guessed code is valid")
	}
	if !codes.Redeem(code) || codes.Redeem(code) {
		t.Error("a code is not valid exactly once")
	}
	now = now.Add(10 * time.Minute)
	if codes.Redeem(late) {
		t.Error("a code is valid after ten minutes")
	}
}

func TestTheSessionOfACodeStartsDuringAnOutage(t *testing.T) {
	b := newBed()
	b.cluster.down = true
	_, p, err := b.SignInSelf(t.Context())
	if err != nil || !p.Own || b.Allow(t.Context(), p, list) != nil {
		t.Errorf("%+v, %v", p, err)
	}
}

// One user, with whatever permissions, does not keep the others from signing in.
func TestTheSessionsOfAUserAreBounded(t *testing.T) {
	b := newBed()
	b.cluster.users["t2"] = "lee"
	p := b.token(t)
	var secrets []string
	for range 1200 {
		b.now = b.now.Add(time.Second)
		secret, _, err := b.SignIn(p)
		if err != nil {
			t.Fatal(err)
		}
		secrets = append(secrets, secret)
	}
	if _, err := b.Session(t.Context(), secrets[0]); !errors.Is(err, access.ErrUnauthenticated) {
		t.Errorf("the oldest session: %v", err)
	}
	for _, secret := range secrets[len(secrets)-50:] {
		if _, err := b.Session(t.Context(), secret); err != nil {
			t.Errorf("a new session: %v", err)
		}
	}
	other, err := b.Token(t.Context(), "t2", free)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := b.SignIn(other); err != nil {
		t.Errorf("another user: %v", err)
	}
}
