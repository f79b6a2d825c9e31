package oidc

import (
	"errors"
	"fmt"
	"net/url"
	"slices"

	gooidc "github.com/coreos/go-oidc/v3/oidc"
)

// Options describe the client of an issuer. They need to match the flags of kube-apiserver: it
// reviews the tokens.
type Options struct {
	Issuer string // its URL; empty: nobody signs in with OpenID Connect
	// ClientID is the audience of the tokens, and that of the API server.
	ClientID string
	// SecretFile has the secret of the client; empty: a public client.
	SecretFile string
	// CAFile has the certificates of the issuer's certificate authority; empty: those of the host.
	CAFile string
	// Scopes are requested beside openid.
	Scopes []string
}

// DefaultScopes request the user, the groups, and a refresh token.
var DefaultScopes = []string{"profile", "email", "groups", gooidc.ScopeOfflineAccess}

// Enabled reports whether people can sign in.
func (o *Options) Enabled() bool { return o.Issuer != "" }

// Check validates the options by the names of their flags.
func (o *Options) Check() error {
	if !o.Enabled() {
		if o.ClientID != "" || o.SecretFile != "" || o.CAFile != "" {
			return errors.New("--oidc-client-id, --oidc-client-secret-file and --oidc-ca-file need --oidc-issuer-url")
		}
		return nil
	}
	issuer, err := url.Parse(o.Issuer)
	switch {
	case err != nil || issuer.Scheme != "https" || issuer.Host == "" || issuer.RawQuery != "" || issuer.Fragment != "" || issuer.User != nil:
		return fmt.Errorf("--oidc-issuer-url: %q is not a URL with https, such as https://dex.example.com", o.Issuer)
	case o.ClientID == "":
		return errors.New("--oidc-issuer-url needs --oidc-client-id, as kube-apiserver has it")
	case slices.Contains(o.Scopes, ""):
		return errors.New("--oidc-scope: a scope is empty")
	}
	return nil
}
