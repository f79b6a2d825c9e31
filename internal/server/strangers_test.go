package server_test

import (
	"net/http"
	"strings"
	"testing"
)

// Whoever has no credentials must neither keep the server busy nor keep out those who have.
func TestRequestsWithoutCredentialsAreLimited(t *testing.T) {
	for situation, change := range map[string]func(*request){
		"no credentials":   func(*request) {},
		"a guessed cookie": func(r *request) { r.cookie = "guessed" },
		"a rejected token": func(r *request) { r.header.Set("Authorization", "Bearer stranger") },
		"another scheme":   func(r *request) { r.header.Set("Authorization", "Basic dmlld2VyOg==") },
		"a body to be parsed": func(r *request) {
			r.method, r.raw = http.MethodPost, `{"target":{"kubernetes":`+strings.Repeat("[", 10_000)
		},
	} {
		t.Run(situation, func(t *testing.T) {
			b := newBed(t, upgrade()).current(t)
			admin := b.admin(t)
			path := apiPath + "checks"
			if situation != "a body to be parsed" {
				path = apiPath + "state"
			}
			refused := 0
			for range 100 {
				r := request{path: path, header: http.Header{"Content-Type": {"application/json"}}}
				change(&r)
				switch status, body := b.attempt(t, r); status {
				case http.StatusTooManyRequests:
					refused++
				case http.StatusUnauthorized, http.StatusUnprocessableEntity:
				default:
					t.Fatalf("%d %s", status, body)
				}
			}
			if refused < 10 || refused > 60 {
				t.Errorf("%d of 100 requests are beyond the limit", refused)
			}
			if status, body := b.attempt(t, request{path: apiPath + "state", cookie: admin}); status != http.StatusOK {
				t.Errorf("a session: %d %s", status, body)
			}
		})
	}
}
