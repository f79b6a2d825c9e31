package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/jwt"

	"github.com/refit-dev/refit/internal/upgrade/backup"
)

// gcsScope permits to read, write and delete objects.
const gcsScope = "https://www.googleapis.com/auth/devstorage.read_write"

// authorize adds a token of a service account to every request.
func authorize(transport *http.Transport, keyFile []byte) (http.RoundTripper, error) {
	if len(keyFile) == 0 {
		return transport, nil
	}
	var account struct {
		Type         string `json:"type"`
		ClientEmail  string `json:"client_email"`
		PrivateKey   string `json:"private_key"`
		PrivateKeyID string `json:"private_key_id"`
		TokenURI     string `json:"token_uri"`
	}
	// The error of the decoder may repeat parts of the key.
	if json.Unmarshal(keyFile, &account) != nil || account.Type != "service_account" || account.ClientEmail == "" || account.PrivateKey == "" {
		return nil, errors.New("the credentials are not a key file of a service account")
	}
	if account.TokenURI == "" {
		account.TokenURI = "https://oauth2.googleapis.com/token"
	}
	config := &jwt.Config{
		Email: account.ClientEmail, PrivateKey: []byte(account.PrivateKey), PrivateKeyID: account.PrivateKeyID,
		TokenURL: account.TokenURI, Scopes: []string{gcsScope},
	}
	// Tokens outlive the context of one call; the transport bounds their requests.
	ctx := context.WithValue(context.Background(), oauth2.HTTPClient, &http.Client{Transport: transport})
	return &oauth2.Transport{Source: quietTokens{config.TokenSource(ctx)}, Base: transport}, nil
}

// quietTokens is a source of tokens whose errors contain nothing of the request or its answer.
type quietTokens struct{ from oauth2.TokenSource }

func (q quietTokens) Token() (*oauth2.Token, error) {
	token, err := q.from.Token()
	if err == nil {
		return token, nil
	}
	if rejected, ok := errors.AsType[*oauth2.RetrieveError](err); ok && rejected.Response != nil {
		return nil, tokenError{fmt.Errorf("%w: the token server returned status %d", tokenClass(rejected.Response.StatusCode), rejected.Response.StatusCode)}
	}
	return nil, tokenError{fmt.Errorf("%w: there is no token for the service account: check its key and the token server", backup.ErrDenied)}
}

// tokenClass is the class of a status of the token server, which answers 400 to a wrong key.
func tokenClass(status int) error {
	if class := statusClass(status); errors.Is(class, backup.ErrUnreachable) {
		return class
	}
	return backup.ErrDenied
}

// tokenError is an error of quietTokens.
type tokenError struct{ error }

func (e tokenError) Unwrap() error { return e.error }

// explain classifies an error of a request.
func (*GCS) explain(ctx context.Context, verb, key string, err error) error {
	if token, ok := errors.AsType[tokenError](err); ok {
		return fmt.Errorf("cannot %s %s: %w", verb, key, token)
	}
	return transferFailure(ctx, verb, key, err)
}
