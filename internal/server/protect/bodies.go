package protect

import (
	"net/http"
	"strings"
	"time"

	"github.com/refit-dev/refit/internal/server/problem"
)

// MaxBody is the maximum size of the body of a request, and MaxUpload that of a file: a
// ClusterRelease has two envelopes of at most 256 KiB, as base64.
const (
	MaxBody   = 256 << 10
	MaxUpload = 768 << 10
)

// limits are the types of bodies, and their maximum sizes. A page of another site cannot send any
// of them without the permission of this server.
var limits = map[string]int64{"application/json": MaxBody, "application/merge-patch+json": MaxBody, "application/yaml": MaxUpload}

// bodies limits the size of bodies, and the time in which one has to arrive.
func bodies(timeout time.Duration) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
			limit, known := limits[kind]
			if !known {
				limit = MaxBody
			}
			if r.ContentLength > limit {
				problem.Write(w, r, problem.Newf(http.StatusRequestEntityTooLarge, problem.TooLarge,
					"The body of the request is larger than %d KiB.", limit>>10))
				return
			}
			if r.ContentLength != 0 && !known {
				problem.Write(w, r, problem.New(http.StatusUnsupportedMediaType, problem.UnsupportedMedia, "The body of the request is not JSON.").
					With("Set the header Content-Type: application/json"))
				return
			}
			if r.ContentLength != 0 {
				r.Body = http.MaxBytesReader(w, r.Body, limit)
				// Nothing removes it after the handler: the server would wait for the rest of a
				// body. Only tests have writers without deadlines.
				_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(timeout))
			}
			next.ServeHTTP(w, r)
		})
	}
}
