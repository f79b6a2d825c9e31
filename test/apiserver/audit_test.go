package apiserver

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func TestTheLinesOfARequestAreOneEvent(t *testing.T) {
	file := filepath.Join(t.TempDir(), auditLog)
	read := func(text string) []auditedRequest {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		requests, err := readAudit(file)
		if err != nil {
			t.Fatal(err)
		}
		return requests
	}
	const (
		arrivedA  = `{"auditID":"a","stage":"RequestReceived","verb":"list","requestURI":"/api/v1/pods","user":{"username":"jane"}}` + "\n"
		arrivedB  = `{"auditID":"b","stage":"RequestReceived","verb":"watch","requestURI":"/api/v1/nodes","user":{"username":"jane"}}` + "\n"
		answeredA = `{"auditID":"a","stage":"ResponseComplete","verb":"list","responseStatus":{"code":403}}` + "\n"
		openB     = `{"auditID":"b","stage":"ResponseStarted","verb":"watch","responseStatus":{"code":200}}` + "\n"
		endedB    = `{"auditID":"b","stage":"ResponseComplete","verb":"watch","responseStatus":{"code":200}}` + "\n"
		refused   = `{"auditID":"c","stage":"ResponseStarted","verb":"get","responseStatus":{"code":401}}` + "\n"
	)
	for situation, tt := range map[string]struct {
		text, want string
	}{
		"nothing was asked":          {"", ""},
		"one is open":                {arrivedA, "list 0 open"},
		"answered in another order":  {arrivedA + arrivedB + openB + answeredA, "list 403 answered, watch 200 answered"},
		"a watch that has ended":     {arrivedB + openB + endedB, "watch 200 answered"},
		"no valid credentials":       {refused, "get 401 answered"},
		"the last line is not whole": {arrivedA + answeredA[:40], "list 0 open"},
		"its newline is missing":     {arrivedA + strings.TrimSuffix(answeredA, "\n"), "list 0 open"},
	} {
		var got []string
		for _, r := range read(tt.text) {
			state := "open"
			if r.answered {
				state = "answered"
			}
			got = append(got, strings.Join([]string{r.Verb, strconv.Itoa(r.Code), state}, " "))
		}
		if strings.Join(got, ", ") != tt.want {
			t.Errorf("%s: got %q, want %q", situation, got, tt.want)
		}
	}
}
