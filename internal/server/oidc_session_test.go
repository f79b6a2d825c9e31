package server_test

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/refit-dev/refit/internal/engine/operations/operationstest"
	"github.com/refit-dev/refit/internal/server"
	"github.com/refit-dev/refit/internal/server/api"
	"github.com/refit-dev/refit/internal/server/oidc"
	"github.com/refit-dev/refit/internal/server/oidc/oidctest"
)

const startPath = "/api/v1alpha1/session/oidc"

// issuerBed is a server with an issuer, and a browser.
type issuerBed struct {
	*bed
	issuer  *oidctest.Issuer
	browser *http.Client
}

func newIssuerBed(t *testing.T) *issuerBed {
	t.Helper()
	b := &issuerBed{issuer: oidctest.Start(t)}
	b.bed = startBed(t, operationstest.NewClient(t, upgrade()), t.TempDir(), false, func(o *server.Options) {
		o.Issuer = oidc.Options{
			Issuer: b.issuer.URL, ClientID: oidctest.ClientID, SecretFile: b.issuer.SecretFile(t), CAFile: b.issuer.CAFile, Scopes: oidc.DefaultScopes,
		}
	}).current(t)
	b.browser = newBrowser(t, b.issuer)
	return b
}

// newBrowser returns a client that keeps cookies. It does not load pages of the server.
func newBrowser(t *testing.T, issuer *oidctest.Issuer) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	must(t, err)
	pem, err := os.ReadFile(issuer.CAFile)
	must(t, err)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	browser := &http.Client{
		Jar: jar, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true, RootCAs: roots}},
		CheckRedirect: func(r *http.Request, _ []*http.Request) error {
			if strings.HasPrefix(r.URL.Path, "/api/") || r.URL.Path == "/authorize" {
				return nil
			}
			return http.ErrUseLastResponse
		},
	}
	t.Cleanup(browser.CloseIdleConnections)
	return browser
}

// visit opens an address of the server, and returns the page where the browser arrives.
func (b *issuerBed) visit(t *testing.T, browser *http.Client, path string) *url.URL {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.url+path, http.NoBody)
	must(t, err)
	answer, err := browser.Do(r)
	must(t, err)
	must(t, answer.Body.Close())
	to, err := answer.Location()
	if err != nil {
		t.Fatalf("%s: %d %v", path, answer.StatusCode, err)
	}
	return to
}

// cookie returns the cookie of the session, or nothing.
func (b *issuerBed) cookie(t *testing.T, browser *http.Client) string {
	t.Helper()
	at, err := url.Parse(b.url)
	must(t, err)
	for _, c := range browser.Jar.Cookies(at) {
		if c.Name == "__Host-refit" {
			return c.Value
		}
	}
	return ""
}

func TestAPersonSignsInAtTheIssuer(t *testing.T) {
	b := newIssuerBed(t)
	if ways := get[api.SignInWays](t, b.bed, "/api/v1alpha1/session", ""); ways.Issuer != b.issuer.URL || !ways.Code {
		t.Errorf("the ways are %+v", ways)
	}
	if page := b.visit(t, b.browser, startPath+"?from=/nodes/cp-1"); page.Path != "/nodes/cp-1" || page.RawQuery != "" {
		t.Fatalf("the browser is at %s", page)
	}
	answer, body := b.send(t, request{path: "/api/v1alpha1/me", cookie: b.cookie(t, b.browser)})
	var me api.Me
	if decode(t, body, &me); answer.StatusCode != http.StatusOK || me.User != "viewer" || me.Method != api.Session || me.Expires.IsZero() {
		t.Errorf("%d %+v", answer.StatusCode, me)
	}
	log := get[api.AuditList](t, b.bed, "/api/v1alpha1/audit", "approver")
	if entry := log.Entries[0]; entry.Action != "FinishOIDC" || entry.User != "viewer" || entry.Result != "200" {
		t.Errorf("the log has %+v", entry)
	}
}

func TestASignInThatFailsReturnsToTheSignInPage(t *testing.T) {
	for code, c := range map[string]struct {
		change func(*issuerBed)
		path   string
	}{
		"sign-in-rejected": {change: func(b *issuerBed) { b.issuer.Refuse() }},
		"issuer-failed":    {change: func(b *issuerBed) { b.issuer.Stop(true) }},
		"unauthenticated":  {change: func(b *issuerBed) { b.issuer.Change("sub", "stranger") }},
		"api-unreachable":  {change: func(b *issuerBed) { b.down.Store(true) }},
		"sign-in-expired":  {path: "/api/v1alpha1/session/callback?state=guessed&code=guessed"},
	} {
		t.Run(code, func(t *testing.T) {
			b := newIssuerBed(t)
			if c.change != nil {
				c.change(b)
			}
			if c.path == "" {
				c.path = startPath + "?from=/nodes/cp-1"
			}
			page := b.visit(t, b.browser, c.path)
			if page.Path != "/sign-in" || page.Query().Get("failed") != code || b.cookie(t, b.browser) != "" {
				t.Errorf("the browser is at %s", page)
			}
			if from := page.Query().Get("from"); code != "sign-in-expired" && from != "/nodes/cp-1" {
				t.Errorf("it returns to %q", from)
			}
			if strings.Contains(page.String(), "canary") {
				t.Errorf("%s has the text of the issuer", page)
			}
		})
	}
}

// Somebody who sends a link with a code of their own must not sign the reader in as them.
func TestALinkToTheCallbackSignsNobodyIn(t *testing.T) {
	b := newIssuerBed(t)
	attacker := newBrowser(t, b.issuer)
	follow := attacker.CheckRedirect
	attacker.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		if strings.HasSuffix(r.URL.Path, "/callback") {
			return http.ErrUseLastResponse
		}
		return follow(r, via)
	}
	link := b.visit(t, attacker, startPath)
	if page := b.visit(t, b.browser, link.RequestURI()); page.Query().Get("failed") != "sign-in-expired" || b.cookie(t, b.browser) != "" {
		t.Errorf("the reader is at %s", page)
	}
	// The link still works where it started.
	if page := b.visit(t, attacker, link.RequestURI()); page.Path != "/" || b.cookie(t, attacker) == "" {
		t.Errorf("the sender is at %s", page)
	}
}

func TestASignInReturnsToNoOtherSite(t *testing.T) {
	b := newIssuerBed(t)
	for _, from := range []string{"https://evil.example.com/", "//evil.example.com/", `/\evil.example.com`, "javascript:alert(1)", "/%0d%0aSet-Cookie:x"} {
		page := b.visit(t, newBrowser(t, b.issuer), startPath+"?from="+url.QueryEscape(from))
		if page.Host != strings.TrimPrefix(b.url, "https://") && page.Query().Get("failed") == "" {
			t.Errorf("%q: the browser is at %s", from, page)
		}
	}
}

func TestAServerWithoutAnIssuer(t *testing.T) {
	b := newBed(t)
	if ways := get[api.SignInWays](t, b, "/api/v1alpha1/session", ""); ways.Issuer != "" {
		t.Errorf("the ways are %+v", ways)
	}
	for _, path := range []string{startPath, "/api/v1alpha1/session/callback?state=x&code=y"} {
		if answer, body := b.send(t, request{path: path}); answer.StatusCode != http.StatusNotFound || problemOf(t, body).Remedy == "" {
			t.Errorf("%s: %d %s", path, answer.StatusCode, body)
		}
	}
}
