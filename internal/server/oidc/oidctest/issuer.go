// Package oidctest has an OpenID Connect issuer for tests. The test of the API server signs in with
// Dex.
package oidctest

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"
)

// The client of an Issuer.
const (
	ClientID     = "refit"
	clientSecret = "not-a-secret"
)

// Issuer signs everybody in, as its user.
type Issuer struct {
	URL      string
	CAFile   string
	key      *rsa.PrivateKey
	redirect string

	mu      sync.Mutex
	user    string
	changed map[string]any // claims that differ from those of a valid token; guarded by mu
	refuses bool
	down    bool
	codes   map[string]pending
	valid   string // the refresh token; empty: none is issued
	issued  int
	lasts   time.Duration
	// published differs from what the issuer usually publishes; guarded by mu.
	published map[string]any
	requests  int // for tokens
}

// pending is a sign-in before its code is exchanged.
type pending struct{ nonce, challenge string }

// Start starts an issuer.
func Start(t *testing.T) *Issuer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	i := &Issuer{key: key, user: "viewer", codes: map[string]pending{}, lasts: time.Hour}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", i.discovery)
	mux.HandleFunc("GET /keys", i.keys)
	mux.HandleFunc("GET /authorize", i.authorize)
	mux.HandleFunc("POST /token", i.token)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if i.isDown() {
			http.Error(w, "maintenance", http.StatusServiceUnavailable)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	i.URL = server.URL
	i.CAFile = filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(i.CAFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	return i
}

// SecretFile returns a file with the secret of the client.
func (i *Issuer) SecretFile(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte(clientSecret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// Stop lets the issuer answer nothing, or everything again.
func (i *Issuer) Stop(down bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.down = down
}

func (i *Issuer) isDown() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.down
}

// Refuse lets the issuer reject codes and refresh tokens.
func (i *Issuer) Refuse() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.refuses = true
}

// Change changes a claim of the tokens from now on.
func (i *Issuer) Change(claim string, value any) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.changed == nil {
		i.changed = map[string]any{}
	}
	i.changed[claim] = value
}

// Publish changes what the issuer publishes about itself.
func (i *Issuer) Publish(name string, value any) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.published == nil {
		i.published = map[string]any{}
	}
	i.published[name] = value
}

// Requests is the number of requests for tokens.
func (i *Issuer) Requests() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.requests
}

func (i *Issuer) discovery(w http.ResponseWriter, _ *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	document := map[string]any{
		"issuer": i.URL, "authorization_endpoint": i.URL + "/authorize", "token_endpoint": i.URL + "/token", "jwks_uri": i.URL + "/keys",
		"id_token_signing_alg_values_supported": []string{"RS256"},
	}
	maps.Copy(document, i.published)
	answer(w, document)
}

func (i *Issuer) keys(w http.ResponseWriter, _ *http.Request) {
	answer(w, map[string]any{"keys": []map[string]string{{
		"kty": "RSA", "alg": "RS256", "use": "sig", "kid": "1", "n": encode(i.key.N.Bytes()), "e": encode(big.NewInt(int64(i.key.E)).Bytes()),
	}}})
}

// authorize signs everybody in at once.
func (i *Issuer) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	i.mu.Lock()
	defer i.mu.Unlock()
	if q.Get("client_id") != ClientID || q.Get("code_challenge_method") != "S256" || q.Get("nonce") == "" || q.Get("response_type") != "code" {
		http.Error(w, "invalid_request", http.StatusBadRequest)
		return
	}
	i.redirect = q.Get("redirect_uri")
	to := url.Values{"state": {q.Get("state")}}
	if i.refuses {
		to.Set("error", "access_denied")
	} else {
		code := rand.Text()
		i.codes[code] = pending{nonce: q.Get("nonce"), challenge: q.Get("code_challenge")}
		to.Set("code", code)
	}
	http.Redirect(w, r, i.redirect+"?"+to.Encode(), http.StatusSeeOther)
}

func (i *Issuer) token(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.requests++
	id, secret, basic := r.BasicAuth()
	if methods, is := i.published["token_endpoint_auth_methods_supported"].([]string); is && slices.Contains(methods, "client_secret_basic") != basic {
		http.Error(w, `{"error":"invalid_client"}`, http.StatusUnauthorized)
		return
	}
	if id == "" {
		id, secret = r.PostFormValue("client_id"), r.PostFormValue("client_secret")
	}
	nonce, ok := "", id == ClientID && (secret == clientSecret || secret == "") && !i.refuses
	switch r.PostFormValue("grant_type") {
	case "authorization_code":
		found, is := i.codes[r.PostFormValue("code")]
		delete(i.codes, r.PostFormValue("code"))
		sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
		nonce, ok = found.nonce, ok && is && encode(sum[:]) == found.challenge && r.PostFormValue("redirect_uri") == i.redirect
	case "refresh_token":
		ok = ok && r.PostFormValue("refresh_token") == i.valid
	}
	if !ok {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"error":"invalid_grant","error_description":"canary-description"}`))
		return
	}
	i.issued++
	i.valid = fmt.Sprint("refresh-", i.issued)
	answer(w, map[string]any{"access_token": "unused", "token_type": "Bearer", "id_token": i.sign(nonce), "refresh_token": i.valid})
}

func (i *Issuer) sign(nonce string) string {
	now := time.Now()
	claims := map[string]any{"iss": i.URL, "aud": ClientID, "sub": i.user, "nonce": nonce, "iat": now.Unix(), "exp": now.Add(i.lasts).Unix()}
	maps.Copy(claims, i.changed)
	payload, _ := json.Marshal(claims)
	signed := encode([]byte(`{"alg":"RS256","kid":"1"}`)) + "." + encode(payload)
	sum := sha256.Sum256([]byte(signed))
	signature, _ := rsa.SignPKCS1v15(nil, i.key, crypto.SHA256, sum[:])
	return signed + "." + encode(signature)
}

func encode(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }

func answer(w http.ResponseWriter, document any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(document)
}
