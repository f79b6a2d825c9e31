//go:build apiserver && dex

package serve

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"
	authenticationv1 "k8s.io/api/authentication/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/refit-dev/refit/internal/server"
	"github.com/refit-dev/refit/internal/server/api"
	"github.com/refit-dev/refit/internal/server/certificate"
	"github.com/refit-dev/refit/internal/server/oidc"
	"github.com/refit-dev/refit/test/apiserver"
)

const (
	dexUser     = "kim@example.com"
	dexPassword = "password"
	dexClient   = "refit"
	// dexSecret is a credential of this test alone.
	dexSecret = "secret-of-this-test"
	// tokensLast is how long an ID token is valid: a session outlasts several of them.
	tokensLast = 20 * time.Second
)

// TestSignInWithDex signs a person in at Dex, whose tokens a real API server reviews.
func TestSignInWithDex(t *testing.T) {
	binary := apiserver.Dex(t)
	serveAt := freeAddress(t)
	d := startDex(t, binary, "https://"+serveAt+"/api/v1alpha1/session/callback")
	c := &cluster{Server: apiserver.Start(t, apiserver.Options{Flags: []string{
		"--oidc-issuer-url=" + d.issuer, "--oidc-client-id=" + dexClient, "--oidc-ca-file=" + d.ca, "--oidc-username-claim=email",
	}})}
	c.connect(t)
	c.installRefit(t)
	must(t, c.Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "kim"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "refit-operator"},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: dexUser}},
	}))
	c.operation(t, "op")
	options := oidc.Options{Issuer: d.issuer, ClientID: dexClient, SecretFile: d.secret, CAFile: d.ca, Scopes: oidc.DefaultScopes}
	c.awaitIssuer(t, d, options)

	log := &strings.Builder{}
	s := c.serveAt(t, serveAt, t.TempDir(), func(o *server.Options) { o.Issuer, o.Log = options, slog.New(slog.NewTextHandler(log, nil)) })
	s.current(t, c.token(t, "viewer", "refit-viewer"))
	cookie := d.signIn(t, s.url, "/operations/op")
	answer, body := s.send(t, request{path: prefix + "me", cookie: cookie})
	var me api.Me
	must(t, json.Unmarshal(body, &me))
	if answer.StatusCode != http.StatusOK || me.User != dexUser || me.Method != api.Session {
		t.Fatalf("%d %s", answer.StatusCode, body)
	}
	if answer, body := s.send(t, request{method: http.MethodPost, path: prefix + "operations/op/pause", cookie: cookie}); answer.StatusCode != http.StatusOK {
		t.Errorf("an operator may pause: %d %s", answer.StatusCode, body)
	}
	if answer, body := s.send(t, request{method: http.MethodPost, path: prefix + "operations/op/approve", cookie: cookie, body: `{"plan":"` + hash + `"}`}); answer.StatusCode != http.StatusForbidden {
		t.Errorf("an operator may not approve: %d %s", answer.StatusCode, body)
	}
	for end := time.Now().Add(3 * tokensLast); time.Now().Before(end); time.Sleep(2 * time.Second) {
		if answer, body := s.send(t, request{path: prefix + "state", cookie: cookie}); answer.StatusCode != http.StatusOK {
			t.Fatalf("the session does not outlast its tokens: %d %s\n%s", answer.StatusCode, body, log)
		}
	}
	if answer, body := s.send(t, request{method: http.MethodPost, path: prefix + "operations/op/resume", cookie: cookie}); answer.StatusCode != http.StatusOK {
		t.Errorf("a write with a renewed token: %d %s", answer.StatusCode, body)
	}
	d.stop()
	time.Sleep(tokensLast) // the last token expires
	if answer, body := s.send(t, request{path: prefix + "state", cookie: cookie}); answer.StatusCode != http.StatusBadGateway || !strings.Contains(string(body), "issuer-failed") {
		t.Errorf("the issuer is down: %d %s", answer.StatusCode, body)
	}
	s.stop()
	if strings.Contains(log.String(), dexSecret) || strings.Contains(log.String(), "eyJ") {
		t.Errorf("the log has a credential:\n%s", log)
	}
}

// dex is a running issuer.
type dex struct {
	issuer, ca, secret string
	redirect           string // of awaitIssuer
	roots              *x509.CertPool
	stop               func()
}

func startDex(t *testing.T, binary, redirect string) *dex {
	t.Helper()
	directory, address := t.TempDir(), freeAddress(t)
	_, err := certificate.Own(directory, []string{"127.0.0.1"}, time.Now)
	must(t, err)
	d := &dex{issuer: "https://" + address + "/dex", ca: filepath.Join(directory, "tls.crt"), secret: filepath.Join(directory, "secret"), redirect: "https://127.0.0.1:1/callback"}
	must(t, os.WriteFile(d.secret, []byte(dexSecret), 0o600))
	hashed, err := bcrypt.GenerateFromPassword([]byte(dexPassword), bcrypt.MinCost+6) // Dex refuses a lower cost
	must(t, err)
	config := map[string]any{
		"issuer": d.issuer, "storage": map[string]any{"type": "memory"},
		"web":              map[string]any{"https": address, "tlsCert": d.ca, "tlsKey": filepath.Join(directory, "tls.key")},
		"oauth2":           map[string]any{"skipApprovalScreen": true},
		"expiry":           map[string]any{"idTokens": tokensLast.String()},
		"staticClients":    []any{map[string]any{"id": dexClient, "name": "Refit", "secret": dexSecret, "redirectURIs": []string{redirect, d.redirect}}},
		"enablePasswordDB": true,
		"staticPasswords":  []any{map[string]any{"email": dexUser, "hash": string(hashed), "username": "kim", "userID": "1"}},
	}
	content, err := json.Marshal(config)
	must(t, err)
	file := filepath.Join(directory, "config.json")
	must(t, os.WriteFile(file, content, 0o600))
	cmd := exec.Command(binary, "serve", file)
	var log strings.Builder
	cmd.Stdout, cmd.Stderr = &log, &log
	must(t, cmd.Start())
	stopped := false
	d.stop = func() {
		if !stopped {
			stopped = true
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	}
	t.Cleanup(func() {
		if d.stop(); t.Failed() {
			t.Logf("the log of Dex:\n%s", log.String())
		}
	})
	pem, err := os.ReadFile(d.ca)
	must(t, err)
	d.roots = x509.NewCertPool()
	d.roots.AppendCertsFromPEM(pem)
	return d
}

// browser returns a client that keeps cookies, and stops at the pages of the server.
func (d *dex) browser(t *testing.T, server string) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	must(t, err)
	browser := &http.Client{
		Jar: jar, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}},
		CheckRedirect: func(r *http.Request, _ []*http.Request) error {
			if "https://"+r.URL.Host == server && !strings.HasPrefix(r.URL.Path, "/api/") {
				return http.ErrUseLastResponse
			}
			return nil
		},
	}
	t.Cleanup(browser.CloseIdleConnections)
	return browser
}

// enter opens an address that leads to Dex, enters the password there, and returns the last answer.
func (d *dex) enter(t *testing.T, browser *http.Client, at string) *http.Response {
	t.Helper()
	send := func(method, at string, form url.Values) *http.Response {
		r, err := http.NewRequestWithContext(t.Context(), method, at, strings.NewReader(form.Encode()))
		must(t, err)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		answer, err := browser.Do(r)
		must(t, err)
		_, err = io.Copy(io.Discard, answer.Body)
		must(t, err)
		must(t, answer.Body.Close())
		return answer
	}
	page := send(http.MethodGet, at, nil)
	if page.StatusCode != http.StatusOK || !strings.HasPrefix(page.Request.URL.String(), d.issuer) {
		t.Fatalf("the browser is at %s: %s", page.Request.URL, page.Status)
	}
	return send(http.MethodPost, page.Request.URL.String(), url.Values{"login": {dexUser}, "password": {dexPassword}})
}

// signIn signs in, and returns the cookie of the session.
func (d *dex) signIn(t *testing.T, server, page string) string {
	t.Helper()
	browser := d.browser(t, server)
	answer := d.enter(t, browser, server+prefix+"session/oidc?from="+url.QueryEscape(page))
	if at := answer.Header.Get("Location"); at != page {
		t.Fatalf("the browser is at %s: %s", at, answer.Status)
	}
	at, err := url.Parse(server)
	must(t, err)
	for _, c := range browser.Jar.Cookies(at) {
		if c.Name == "__Host-refit" {
			return c.Value
		}
	}
	t.Fatal("there is no session")
	return ""
}

// awaitIssuer waits until the API server accepts the tokens of the issuer: it reads its keys in the
// background.
func (c *cluster) awaitIssuer(t *testing.T, d *dex, options oidc.Options) {
	t.Helper()
	provider, err := oidc.New(options, time.Now)
	must(t, err)
	for end := time.Now().Add(2 * wait); ; time.Sleep(time.Second) {
		flows := oidc.NewFlows(provider, time.Now)
		at, secret, err := flows.Start(t.Context(), d.redirect, "/")
		if err == nil {
			review := &authenticationv1.TokenReview{}
			review.Spec.Token = d.token(t, flows, at, secret)
			must(t, c.Create(t.Context(), review))
			if review.Status.Authenticated && review.Status.User.Username == dexUser {
				return
			}
			err = fmt.Errorf("the API server rejects the token: %s", review.Status.Error)
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

// token returns an ID token of a sign-in that no server has started.
func (d *dex) token(t *testing.T, flows *oidc.Flows, at, secret string) string {
	t.Helper()
	browser := d.browser(t, "")
	browser.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
		if strings.HasPrefix(r.URL.String(), d.redirect) {
			return http.ErrUseLastResponse
		}
		return nil
	}
	to, err := d.enter(t, browser, at).Location()
	must(t, err)
	tokens, _, err := flows.Finish(t.Context(), oidc.Answer{State: to.Query().Get("state"), Browser: secret, Code: to.Query().Get("code")})
	must(t, err)
	return tokens.ID
}

// freeAddress returns an address that nothing listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	defer listener.Close()
	return listener.Addr().String()
}
