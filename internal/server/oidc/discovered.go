package oidc

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"

	gooidc "github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// errPlain is an address of the issuer without TLS.
var errPlain = errors.New("the issuer has an address without TLS")

// discovered is what an issuer publishes about itself.
type discovered struct {
	*gooidc.Provider

	endpoint oauth2.Endpoint
}

// query queries an issuer.
func (p *Provider) query(ctx context.Context) (*discovered, error) {
	found, err := gooidc.NewProvider(ctx, p.options.Issuer)
	if err != nil {
		return nil, err
	}
	out := &discovered{Provider: found, endpoint: found.Endpoint()}
	for _, address := range []string{out.endpoint.AuthURL, out.endpoint.TokenURL} {
		if at, err := url.Parse(address); err != nil || at.Scheme != "https" || at.Host == "" {
			return nil, fmt.Errorf("%w: %q", errPlain, address)
		}
	}
	var published struct {
		Methods []string `json:"token_endpoint_auth_methods_supported"`
	}
	if err := found.Claims(&published); err != nil {
		return nil, err
	}
	out.endpoint.AuthStyle = styleOf(published.Methods, p.secret)
	return out, nil
}

// styleOf returns how the client authenticates. Trying one way after the other would send a code or
// a refresh token twice, which some issuers take for a theft. Without methods, the specification
// has client_secret_basic.
func styleOf(methods []string, secret string) oauth2.AuthStyle {
	if secret == "" || len(methods) > 0 && !slices.Contains(methods, "client_secret_basic") {
		return oauth2.AuthStyleInParams
	}
	return oauth2.AuthStyleInHeader
}
