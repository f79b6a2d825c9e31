package problem_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/refit-dev/refit/internal/server/api"
	"github.com/refit-dev/refit/internal/server/problem"
)

func written(t *testing.T, err error) (*http.Response, api.Problem) {
	t.Helper()
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(problem.WithRequestID(t.Context(), "r1"), http.MethodGet, "/", nil)
	problem.Write(w, r, err)
	answer := w.Result()
	defer answer.Body.Close()
	var p api.Problem
	if err := json.NewDecoder(answer.Body).Decode(&p); err != nil {
		t.Fatal(err)
	}
	return answer, p
}

func TestAProblemNamesItsCodeAndTheRequest(t *testing.T) {
	answer, p := written(t, problem.New(http.StatusServiceUnavailable, problem.APIUnreachable, "It is down.").After(1500*time.Millisecond).At("#/a", "wrong"))
	if answer.StatusCode != http.StatusServiceUnavailable || answer.Header.Get("Retry-After") != "2" || answer.Header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("%d %v", answer.StatusCode, answer.Header)
	}
	if p.Code != problem.APIUnreachable || p.RequestID != "r1" || p.Title != "Service Unavailable" || len(p.Errors) != 1 {
		t.Errorf("%+v", p)
	}
}

func TestTheClientDoesNotSeeAnInternalError(t *testing.T) {
	answer, p := written(t, errors.New("open /secret/path: denied"))
	if answer.StatusCode != http.StatusInternalServerError || p.Code != problem.Internal || strings.Contains(p.Detail+p.Remedy, "secret") {
		t.Errorf("%d %+v", answer.StatusCode, p)
	}
}
