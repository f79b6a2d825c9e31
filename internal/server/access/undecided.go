package access

import (
	"errors"
	"strings"
)

// ErrUndecided is a token that the API server cannot verify yet. After its start, it reads the keys
// of OpenID Connect issuers in the background, every ten seconds until they answer; they may run in
// the cluster. It rejects their tokens meanwhile.
var ErrUndecided = errors.New("the API server cannot verify the token yet")

// undecided are the errors of such a TokenReview. It has no field for them. They are part of the
// messages of k8s.io/apiserver and of go-oidc, which fetches the keys.
var undecided = []string{"authenticator not initialized", "verifier not initialized", "fetching keys"}

// isUndecided reports whether the error of a TokenReview is about the API server, and not about the
// token.
func isUndecided(message string) bool {
	for _, part := range undecided {
		if strings.Contains(message, part) {
			return true
		}
	}
	return false
}
