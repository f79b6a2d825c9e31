package server_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/refit-dev/refit/internal/server/api"
)

// signIn starts a session and returns its cookie.
func (b *bed) signIn(t *testing.T, credentials api.SignIn) string {
	t.Helper()
	answer, body := b.send(t, request{method: http.MethodPost, path: "/api/v1alpha1/session", body: credentials})
	if answer.StatusCode != http.StatusCreated {
		t.Fatalf("%d %s", answer.StatusCode, body)
	}
	c := answer.Cookies()[0]
	if c.Name != "__Host-refit" || !c.Secure || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.Domain != "" || c.MaxAge > 8*3600 {
		t.Errorf("the cookie is %+v", c)
	}
	return c.Value
}

func TestASessionActsForWhoHasSignedIn(t *testing.T) {
	b := newBed(t, upgrade()).current(t)
	code := b.NewCode()
	for method, credentials := range map[api.MeMethod]api.SignIn{api.Code: {Code: code}, api.Session: {Token: "viewer"}} {
		cookie := b.signIn(t, credentials)
		answer, body := b.send(t, request{path: "/api/v1alpha1/me", cookie: cookie})
		var me api.Me
		if decode(t, body, &me); answer.StatusCode != http.StatusOK || me.Method != method || me.Expires.IsZero() {
			t.Errorf("%d %+v", answer.StatusCode, me)
		}
		at := slices.IndexFunc(me.Permissions, func(p api.Permission) bool { return p.Operation == "ListAudit" })
		if audit := me.Permissions[at]; audit.Allowed != (method == api.Code) || audit.Allowed == (audit.Missing != "") {
			t.Errorf("%s: the permission is %+v", method, audit)
		}
		if answer, body := b.send(t, request{path: "/api/v1alpha1/operations", cookie: cookie}); answer.StatusCode != http.StatusOK {
			t.Errorf("%d %s", answer.StatusCode, body)
		}
		if answer, _ := b.send(t, request{method: http.MethodDelete, path: "/api/v1alpha1/session", cookie: cookie}); answer.StatusCode != http.StatusNoContent {
			t.Errorf("signing out: %d", answer.StatusCode)
		}
		if answer, _ := b.send(t, request{path: "/api/v1alpha1/me", cookie: cookie}); answer.StatusCode != http.StatusUnauthorized {
			t.Errorf("after signing out: %d", answer.StatusCode)
		}
	}
	if answer, body := b.send(t, request{method: http.MethodPost, path: "/api/v1alpha1/session", body: api.SignIn{Code: code}}); answer.StatusCode != http.StatusUnauthorized {
		t.Errorf("a code is valid twice: %d %s", answer.StatusCode, body)
	}
}

func TestSigningInIsLimited(t *testing.T) {
	b := newBed(t)
	statuses := []int{}
	for range 6 {
		answer, _ := b.send(t, request{method: http.MethodPost, path: "/api/v1alpha1/session", body: api.SignIn{Code: "guessed"}})
		statuses = append(statuses, answer.StatusCode)
	}
	if !slices.Equal(statuses, []int{401, 401, 401, 401, 401, 429}) {
		t.Errorf("statuses are %v", statuses)
	}
}

func TestSignInsAndRefusalsAreInTheAuditLogAndSecretsAreNot(t *testing.T) {
	b := newBed(t).current(t)
	b.signIn(t, api.SignIn{Token: "viewer"})
	b.send(t, request{method: http.MethodPost, path: "/api/v1alpha1/session", body: api.SignIn{Token: "canary-token"}})
	answer, body := b.send(t, request{path: "/api/v1alpha1/audit", token: "approver"})
	var log api.AuditList
	if decode(t, body, &log); answer.StatusCode != http.StatusOK || !log.Verified || len(log.Entries) != 2 {
		t.Fatalf("%d %s", answer.StatusCode, body)
	}
	if failed, started := log.Entries[0], log.Entries[1]; failed.Result != "401 unauthenticated" || started.User != "viewer" || started.Remote != "127.0.0.1" {
		t.Errorf("the log is %+v", log.Entries)
	}
	if strings.Contains(string(body), "canary") {
		t.Errorf("the log has a token: %s", body)
	}
	if answer, body := b.send(t, request{path: "/api/v1alpha1/audit", token: "viewer"}); answer.StatusCode != http.StatusForbidden || !strings.Contains(problemOf(t, body).Detail, "approve clusterupgrades.refit.dev") {
		t.Errorf("a viewer: %d %s", answer.StatusCode, body)
	}
}
