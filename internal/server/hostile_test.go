package server_test

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/refit-dev/refit/internal/server/api"
)

const apiPath = "/api/v1alpha1/"

// Requests that no client sends are refused: none is a fault of the server, or has an effect.
func TestHostileRequestsAreRefused(t *testing.T) {
	b := newBed(t, upgrade(), node("cp-1"), controllers()).observing(ready).current(t)
	admin := b.admin(t)
	long := strings.Repeat("a", 10_000)
	json, patch, yaml := http.Header{"Content-Type": {"application/json"}}, http.Header{"Content-Type": {"application/merge-patch+json"}, "If-Match": {"*"}},
		http.Header{"Content-Type": {"application/yaml"}}
	keyed := http.Header{"Content-Type": {"application/json"}, "Idempotency-Key": {"run-1"}}
	plan := "sha256:" + strings.Repeat("0", 64)
	for situation, c := range map[string]struct {
		request
		want []int
	}{
		"a parent folder":             {request{path: "/api/v1alpha1/operations/../audit"}, []int{200}}, // the client resolves it
		"an encoded parent folder":    {request{path: apiPath + "operations/%2e%2e/nodes"}, []int{404}},
		"an encoded slash":            {request{path: apiPath + "operations/a%2Fb"}, []int{404}},
		"a change of a parent folder": {request{method: "POST", path: apiPath + "operations/%2e%2e/pause"}, []int{404}},
		"a change with a slash":       {request{method: "POST", path: apiPath + "operations/op%2Fstatus/pause"}, []int{404}},
		"a change with a percent":     {request{method: "POST", path: apiPath + "operations/%25/pause"}, []int{404}},
		"a change with NUL":           {request{method: "POST", path: apiPath + "operations/op%00/pause"}, []int{404}},
		"a change with line breaks":   {request{method: "POST", path: apiPath + "operations/op%0d%0aX:1/pause"}, []int{404}},
		"a change of a long name":     {request{method: "POST", path: apiPath + "operations/" + long + "/pause"}, []int{404}},
		"a change of no UTF-8":        {request{method: "POST", path: apiPath + "operations/%ff/pause"}, []int{404}},
		"a patch of a parent folder":  {request{method: "PATCH", path: apiPath + "operations/%2e%2e", raw: `{"rollback":"Manual"}`, header: patch}, []int{404}},
		"a release of a parent":       {request{method: "PUT", path: apiPath + "releases/%2e%2e", raw: "kind: ClusterRelease", header: yaml}, []int{400}},
		"a node of a parent folder":   {request{path: apiPath + "nodes/%2e%2e"}, []int{404}},
		"a check of a parent folder":  {request{path: apiPath + "checks/%2e%2e"}, []int{404}},
		"a page of a parent folder":   {request{path: "/%2e%2e/%2e%2e/etc/passwd"}, []int{200, 400, 404, 501}}, // a page of the browser
		"an unknown route":            {request{path: apiPath + "secrets"}, []int{404}},
		"an unknown method":           {request{method: "TRACE", path: apiPath + "state"}, []int{404, 405}},
		"a method in a header":        {request{method: "POST", path: apiPath + "state", header: http.Header{"X-Http-Method-Override": {"GET"}}}, []int{404, 405}},

		"deep JSON":             {request{method: "POST", path: apiPath + "checks", raw: strings.Repeat(`{"target":`, 20_000), header: json}, []int{422}},
		"a deep list":           {request{method: "POST", path: apiPath + "checks", raw: `{"pools":` + strings.Repeat("[", 200_000), header: json}, []int{422}},
		"a duplicate field":     {request{method: "POST", path: apiPath + "checks", raw: `{"target":{"kubernetes":"v1.36.3"},"target":{"kubernetes":"v1.37.1"}}`, header: json}, []int{422}},
		"a duplicate plan":      {request{method: "POST", path: apiPath + "operations/op/approve", raw: `{"plan":"` + plan + `","plan":"` + plan + `"}`, header: json}, []int{422}},
		"two documents":         {request{method: "POST", path: apiPath + "operations/op/approve", raw: `{"plan":"` + plan + `"}{"plan":"x"}`, header: json}, []int{400, 422}},
		"null":                  {request{method: "POST", path: apiPath + "operations", raw: "null", header: keyed}, []int{422}},
		"a number":              {request{method: "POST", path: apiPath + "operations", raw: "1e999999", header: keyed}, []int{422}},
		"no UTF-8":              {request{method: "POST", path: apiPath + "checks", raw: "{\"target\":{\"kubernetes\":\"\xff\xfe\"}}", header: json}, []int{422}},
		"a deep YAML":           {request{method: "PUT", path: apiPath + "releases/a", raw: strings.Repeat("[", 100_000), header: yaml}, []int{422}},
		"a YAML of aliases":     {request{method: "PUT", path: apiPath + "releases/a", raw: aliases(), header: yaml}, []int{422}},
		"a large YAML":          {request{method: "PUT", path: apiPath + "releases/a", raw: strings.Repeat("x", 800<<10), header: yaml}, []int{413}},
		"a large JSON":          {request{method: "POST", path: apiPath + "checks", raw: strings.Repeat("x", 300<<10), header: json}, []int{413}},
		"JSON as YAML":          {request{method: "POST", path: apiPath + "checks", raw: strings.Repeat("x", 300<<10), header: yaml}, []int{415, 422}},
		"a form":                {request{method: "POST", path: apiPath + "checks", raw: "target=x", header: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}}, []int{415}},
		"a long key":            {request{method: "POST", path: apiPath + "operations", raw: `{"spec":{"target":{"kubernetes":"v1.36.3"}},"plan":"` + plan + `"}`, header: http.Header{"Content-Type": {"application/json"}, "Idempotency-Key": {long}}}, []int{400}},
		"an If-Match of commas": {request{method: "PATCH", path: apiPath + "operations/op", raw: `{"rollback":"Manual"}`, header: http.Header{"Content-Type": {"application/merge-patch+json"}, "If-Match": {strings.Repeat(",", 10_000)}}}, []int{412}},
		"an If-Match of nothing": {request{
			method: "PATCH", path: apiPath + "operations/op", raw: `{"rollback":"Manual"}`,
			header: http.Header{"Content-Type": {"application/merge-patch+json"}, "If-Match": {`W/"`}},
		}, []int{412}},
		"a header that is too large": {request{path: apiPath + "state", header: http.Header{"X-Large": {strings.Repeat("x", 60<<10)}}}, []int{431, 0}}, // or the end of the connection
		"a negative limit":           {request{path: apiPath + "audit?limit=-9223372036854775808"}, []int{400}},
		"a limit beyond integers":    {request{path: apiPath + "audit?limit=99999999999999999999"}, []int{400}},
		"a wait beyond durations":    {request{path: apiPath + "operations/op?wait=ended&timeout=99999999999h"}, []int{400}},
		"a scheme without a token":   {request{path: apiPath + "state", header: http.Header{"Authorization": {"Bearer "}}}, []int{401}},
		"another scheme":             {request{path: apiPath + "state", header: http.Header{"Authorization": {"Basic dmlld2VyOg=="}}}, []int{401}},
	} {
		t.Run(situation, func(t *testing.T) {
			c.cookie = admin
			status, body := b.attempt(t, c.request)
			if !slices.Contains(c.want, status) {
				t.Errorf("%d %.300s, want %v", status, body, c.want)
			}
		})
	}
	if log := get[api.AuditList](t, b, apiPath+"audit", "approver"); !log.Verified {
		t.Errorf("the audit log is broken: %s", log.Problem)
	}
}

// attempt sends a request and returns the status, 0 if the server ends the connection.
func (b *bed) attempt(t *testing.T, r request) (status int, body []byte) {
	t.Helper()
	sent, err := http.NewRequestWithContext(t.Context(), cmp.Or(r.method, http.MethodGet), b.url+r.path, strings.NewReader(r.raw))
	must(t, err)
	maps.Copy(sent.Header, r.header)
	sent.Header.Set("Cookie", "__Host-refit="+r.cookie)
	if r.header.Get("Authorization") != "" || r.cookie == "" {
		sent.Header.Del("Cookie")
	}
	answer, err := b.client.Do(sent)
	if err != nil {
		return 0, []byte(err.Error())
	}
	defer answer.Body.Close()
	body, err = io.ReadAll(answer.Body)
	must(t, err)
	return answer.StatusCode, body
}

func TestALastEventIDThatIsNoneResumesNothing(t *testing.T) {
	b := newBed(t, upgrade()).current(t)
	events := b.follow(t, "")
	first, hello := next[api.Hello](t, events, "hello")
	boot, _, _ := strings.Cut(first.id, ".")
	for _, id := range []string{
		".", "..", boot, boot + ".", boot + ".-1", boot + ".-9223372036854775808", boot + ".9223372036854775807", boot + ".99999999999999999999", boot + ".1e3",
		"." + strconv.FormatInt(hello.Revision, 10), strings.Repeat("x", 10_000), "\xff", boot + ".0x1",
	} {
		if _, hello := next[api.Hello](t, b.follow(t, id), "hello"); hello.Resumed {
			t.Errorf("%.40q is resumed", id)
		}
	}
}

// Clients that begin a connection, a header or a body and do not go on are disconnected.
func TestSlowClientsAreDisconnected(t *testing.T) {
	b := newBed(t)
	const most = 15 * time.Second
	for situation, text := range map[string]string{
		"no handshake":  "",
		"no request":    " ",
		"half a header": "GET /api/v1alpha1/state HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ",
		"half a body":   "POST /api/v1alpha1/session HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
	} {
		t.Run(situation, func(t *testing.T) {
			t.Parallel()
			c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(b.url, "https://"))
			must(t, err)
			defer c.Close()
			if text != "" {
				c = tls.Client(c, &tls.Config{InsecureSkipVerify: true})
				_, err = io.WriteString(c, text)
				must(t, err)
			}
			must(t, c.SetReadDeadline(time.Now().Add(most)))
			if _, err := io.Copy(io.Discard, c); errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("it is connected for %s", most)
			}
		})
	}
}

// Refusals of unknown callers are not in the audit log: anybody could fill it, and so push out what
// others did.
func TestNobodyCanFillTheAuditLog(t *testing.T) {
	b := newBed(t, upgrade()).current(t)
	b.signIn(t, api.SignIn{Token: "viewer"})
	get[api.AuditList](t, b, apiPath+"audit", "approver") // who is known is not limited with the others
	for range 20 {
		b.send(t, request{method: http.MethodPost, path: operationsPath + "/op/pause"})
		b.send(t, request{method: http.MethodPost, path: operationsPath + "/op/pause", token: "guessed"})
		b.send(t, request{method: http.MethodPost, path: operationsPath + "/op/pause", cookie: "guessed"})
		b.send(t, request{method: http.MethodPost, path: apiPath + "session", body: api.SignIn{Code: "guessed"}})
	}
	b.send(t, request{method: http.MethodPost, path: operationsPath + "/op/pause", token: "viewer"})
	log := get[api.AuditList](t, b, apiPath+"audit", "approver")
	if len(log.Entries) > 6 || log.Entries[0].User != "viewer" || log.Entries[0].Result != "403 forbidden" {
		t.Errorf("the log has %d entries, the last is %+v", len(log.Entries), log.Entries[0])
	}
}

// While the API server hangs, an admitted session is answered at once: no request and no stream
// waits for reviews.
func TestAHungAPIServerDelaysNobody(t *testing.T) {
	b := newBed(t, upgrade(), node("cp-1")).current(t)
	session := b.signIn(t, api.SignIn{Token: "viewer"})
	if answer, body := b.send(t, request{path: apiPath + "state", cookie: session}); answer.StatusCode != http.StatusOK {
		t.Fatalf("%d %s", answer.StatusCode, body)
	}
	events := b.follow(t, "")
	b.hung.Store(true)
	for link := (api.APIServer{Reachable: true}); link.Reachable; {
		_, link = next[api.APIServer](t, events, "api")
	}
	b.ahead.Store(int64(time.Hour)) // the reviews that are known are old
	begun := time.Now()
	if answer, body := b.send(t, request{path: apiPath + "state", cookie: session}); answer.StatusCode != http.StatusOK {
		t.Errorf("a session: %d %s", answer.StatusCode, body)
	}
	answer, body := b.send(t, request{path: apiPath + "state", token: "viewer"})
	if p := problemOf(t, body); answer.StatusCode != http.StatusServiceUnavailable || p.Since.IsZero() || p.Expected.Message != "" || strings.Contains(string(body), "probe") {
		t.Errorf("a token that nobody can review: %d %s", answer.StatusCode, body)
	}
	if took := time.Since(begun); took > 2*time.Second {
		t.Errorf("the answers took %s", took)
	}
}

// A caller whose token is revoked neither follows events nor waits any longer.
func TestCallersWhoStayAreReviewedAgain(t *testing.T) {
	b := newBed(t, upgrade()).current(t)
	b.ReviewEvery(200 * time.Millisecond)
	events := b.follow(t, "")
	next[api.Hello](t, events, "hello")
	waited := make(chan int, 1)
	go func() {
		answer, _ := b.send(t, request{path: operationsPath + "/op?wait=ended&timeout=15s", token: "viewer"})
		waited <- answer.StatusCode
	}()
	b.eventually(t, "both stay", func() bool { return b.Streams() == 2 })
	b.revoked.Store(true)
	b.ahead.Store(int64(time.Minute))
	select {
	case status := <-waited:
		if status != http.StatusUnauthorized {
			t.Errorf("the wait ends with %d", status)
		}
	case <-time.After(5 * time.Second):
		t.Error("the caller still waits")
	}
	b.eventually(t, "the stream ends", func() bool { return b.Streams() == 0 })
}

// aliases is a document that is large once its aliases are resolved.
func aliases() string {
	out := "a0: &a0 [x,x,x,x,x,x,x,x,x]\n"
	for i := range 30 {
		out += fmt.Sprintf("a%d: &a%d [%s*a%d]\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*a%d,", i), 8), i)
	}
	return out
}

// A review without an answer does not delay the events and heartbeats of a stream.
func TestAStreamDoesNotWaitForItsReview(t *testing.T) {
	b := newBed(t, upgrade()).current(t)
	b.ReviewEvery(100 * time.Millisecond)
	events := b.follow(t, "")
	next[api.Hello](t, events, "hello")
	b.slow.Store(true)
	b.ahead.Store(int64(time.Minute))
	b.eventually(t, "a review is in progress", func() bool { return b.waiting.Load() > 0 })
	begun := time.Now()
	b.Publish("change", []byte("1"))
	next[int](t, events, "change")
	if took := time.Since(begun); took > 2*time.Second {
		t.Errorf("the event came after %s", took)
	}
}
