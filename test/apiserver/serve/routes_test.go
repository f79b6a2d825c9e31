//go:build apiserver

package serve

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	openapi "github.com/refit-dev/refit/api"
	"github.com/refit-dev/refit/internal/server"
	"github.com/refit-dev/refit/internal/server/api"
)

// document is the part of openapi.yaml that the tests read.
type document struct {
	Paths map[string]map[string]json.RawMessage `json:"paths"`
}

type route struct {
	id, method, path string
	Responses        map[string]struct {
		Ref     string `json:"$ref"`
		Content map[string]struct {
			Schema struct {
				Ref string `json:"$ref"`
			} `json:"schema"`
		} `json:"content"`
	} `json:"responses"`
}

// routes returns the routes of openapi.yaml.
func routes(t *testing.T) (out []route) {
	t.Helper()
	var d document
	must(t, yaml.Unmarshal(openapi.OpenAPI, &d))
	for path, methods := range d.Paths {
		for method, content := range methods {
			if method == "parameters" {
				continue
			}
			r := route{method: strings.ToUpper(method), path: path}
			var id struct {
				OperationID string `json:"operationId"`
			}
			must(t, json.Unmarshal(content, &id))
			must(t, json.Unmarshal(content, &r))
			r.id = id.OperationID
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b route) int { return strings.Compare(a.id, b.id) })
	return out
}

// compile returns the schemas of openapi.yaml. Objects have no other fields than theirs.
func compile(t *testing.T) func(name string) *jsonschema.Schema {
	t.Helper()
	var d any
	must(t, yaml.Unmarshal(openapi.OpenAPI, &d))
	closed(d)
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	must(t, compiler.AddResource("openapi.json", d))
	return func(ref string) *jsonschema.Schema {
		schema, err := compiler.Compile("openapi.json" + ref)
		must(t, err)
		return schema
	}
}

// closed forbids other fields in every schema of an object.
func closed(v any) {
	switch v := v.(type) {
	case map[string]any:
		if _, is := v["properties"].(map[string]any); is && v["type"] == "object" {
			v["additionalProperties"] = false
		}
		for _, inner := range v {
			closed(inner)
		}
	case []any:
		for _, inner := range v {
			closed(inner)
		}
	}
}

func validate(t *testing.T, schema *jsonschema.Schema, content []byte) (ok bool) {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(string(content)))
	if err == nil {
		err = schema.Validate(value)
	}
	if err != nil {
		t.Errorf("%v\n%s", err, content)
	}
	return err == nil
}

const prefix = "/api/v1alpha1/"

// who are the callers, in the order of the statuses below.
var who = []string{"anonymous", "no role", "viewer", "operator", "approver", "expired", "revoked"}

// answers are the statuses of each route for each caller. A route without a row fails the test.
var answers = map[string]struct {
	body     string
	statuses []int
}{
	"GetHealthz": {"", []int{200, 200, 200, 200, 200, 200, 200}},
	"GetReadyz":  {"", []int{200, 200, 200, 200, 200, 200, 200}},
	"GetOpenapi": {"", []int{200, 200, 200, 200, 200, 200, 200}},

	"CreateSession": {`{"code":"guessed"}`, []int{401, 401, 401, 401, 401, 429, 429}},
	"GetSignIn":     {"", []int{200, 200, 200, 200, 200, 200, 200}},
	"StartOIDC":     {"", []int{404, 404, 404, 404, 404, 404, 404}}, // the server has no issuer
	"FinishOIDC":    {"", []int{404, 404, 404, 404, 404, 404, 404}},
	"DeleteSession": {"", []int{401, 204, 204, 204, 204, 401, 401}},
	"GetMe":         {"", []int{401, 200, 200, 200, 200, 401, 401}},
	"ListAudit":     {"", []int{401, 403, 403, 403, 200, 401, 401}},

	"GetState":           {"", []int{401, 403, 200, 200, 200, 401, 401}},
	"GetEvents":          {"", []int{401, 403, 200, 200, 200, 401, 401}},
	"ListReleases":       {"", []int{401, 403, 200, 200, 200, 401, 401}},
	"ListOperations":     {"", []int{401, 403, 200, 200, 200, 401, 401}},
	"GetOperation":       {"", []int{401, 403, 200, 200, 200, 401, 401}},
	"ListNodes":          {"", []int{401, 403, 200, 200, 200, 401, 401}},
	"ListOperationNodes": {"", []int{401, 403, 200, 200, 200, 401, 401}},
	"GetNode":            {"", []int{401, 403, 200, 200, 200, 401, 401}},

	"CreateCheck":      {`{"target":{"kubernetes":"v1.36.3"}}`, []int{401, 403, 202, 202, 202, 401, 401}},
	"GetCheck":         {"", []int{401, 403, 200, 200, 200, 401, 401}},
	"GetCheckManifest": {"", []int{401, 403, 200, 200, 200, 401, 401}},

	// The bundle of one caller is collected at a time.
	"CreateSupportBundle":  {`{}`, []int{401, 403, 202, 202, 202, 401, 401}},
	"GetSupportBundle":     {"", []int{401, 403, 200, 200, 200, 401, 401}},
	"GetSupportBundleFile": {"", []int{401, 403, 200, 200, 200, 401, 401}},

	// The ClusterRelease does not exist. TestTheFormOfAPublisher has one.
	"GetConfig":    {"", []int{401, 403, 404, 404, 404, 401, 401}},
	"RenderConfig": {`{"answers":{}}`, []int{401, 403, 404, 404, 404, 401, 401}},
	"PutConfig":    {`{"answers":{}}`, []int{401, 403, 403, 403, 403, 401, 401}},

	"PutRelease":       {`{"kind":"ClusterRelease"}`, []int{401, 403, 403, 403, 403, 401, 401}},
	"StartOperation":   {`{"spec":{"target":{"kubernetes":"v1.36.3"}},"plan":"` + hash + `"}`, []int{401, 403, 403, 409, 403, 401, 401}},
	"ChangeOperation":  {`{"rollback":"Manual"}`, []int{401, 403, 403, 200, 200, 401, 401}},
	"PauseOperation":   {"", []int{401, 403, 403, 200, 200, 401, 401}},
	"ResumeOperation":  {"", []int{401, 403, 403, 200, 200, 401, 401}},
	"RetryOperation":   {"", []int{401, 403, 403, 200, 200, 401, 401}},
	"ApproveOperation": {`{"plan":"` + hash + `"}`, []int{401, 403, 403, 403, 200, 401, 401}},
	"AbortOperation":   {"", []int{401, 403, 403, 200, 200, 401, 401}},
}

// headers are what routes require, and what lets a check end before the next one.
var headers = map[string]http.Header{
	"GetCheck":        {"Prefer": {"wait=60"}},
	"PutRelease":      {"Content-Type": {"application/yaml"}},
	"StartOperation":  {"Idempotency-Key": {"route"}},
	"PutConfig":       {"If-Match": {"*"}},
	"ChangeOperation": {"If-Match": {"*"}, "Content-Type": {"application/merge-patch+json"}},
}

// TestEveryRouteForEveryCaller sends each request of openapi.yaml as each caller, and validates
// each answer against its schema. No answer, event or file of the server has a secret, nor has its
// log.
func TestEveryRouteForEveryCaller(t *testing.T) {
	c := shared(t)
	must(t, c.Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "canary", Namespace: namespace}, StringData: map[string]string{"password": "canary-secret"},
	}))
	c.node(t, "route-node")
	tokens := map[string]string{
		"no role": c.token(t, "norole", ""), "viewer": c.token(t, "viewer", "refit-viewer"),
		"operator": c.token(t, "operator", "refit-operator"), "approver": c.token(t, "approver", "refit-approver"), "revoked": c.token(t, "revoked", "refit-approver"),
	}
	c.revoke(t, "revoked", tokens["revoked"])
	schemaOf, all := compile(t), routes(t)
	names := map[string]string{}
	for i, w := range who { // each caller has an upgrade: an abort cannot be undone
		names[w] = "route-" + strconv.Itoa(i)
		c.operation(t, names[w])
	}
	log := &buffer{}
	s := c.serve(t, t.TempDir(), func(o *server.Options) {
		o.Log = slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}).current(t, tokens["viewer"])
	expired := s.signIn(t, api.SignIn{Token: tokens["approver"]})
	secrets := append(slices.Collect(maps.Values(tokens)), expired, "canary-")
	events := s.follow(t, request{token: tokens["viewer"]})
	s.ahead.Store(int64(9 * time.Hour))
	if len(answers) > len(all) {
		t.Errorf("this test has %d routes, openapi.yaml %d", len(answers), len(all))
	}
	slices.SortStableFunc(all, func(a, b route) int { return strings.Compare(last(a.id), last(b.id)) })
	visit := &visit{serving: s, schemaOf: schemaOf, secrets: secrets, check: "guessed", bundle: "guessed"}
	for i, w := range who {
		t.Run(w, func(t *testing.T) {
			for _, r := range all {
				row, found := answers[r.id]
				if !found {
					t.Errorf("this test has no row for %s", r.id)
					continue
				}
				sent := request{method: r.method, path: visit.path(&r, names[w]), token: tokens[w], body: row.body, header: headers[r.id]}
				if w == "expired" {
					sent.cookie = expired
				}
				if !visit.send(t, &r, sent, row.statuses[i]) {
					t.Errorf("this was the answer of %s", r.id)
				}
			}
		})
	}
	s.stop() // ends the stream, and writes the files
	for e := range events {
		hasNone(t, "the event "+e.kind, e.data, secrets)
	}
	hasNone(t, "the log", log.String(), secrets)
	files, err := os.ReadDir(s.directory)
	must(t, err)
	for _, file := range files {
		content, err := os.ReadFile(filepath.Join(s.directory, file.Name()))
		must(t, err)
		hasNone(t, file.Name(), string(content), secrets)
	}
	if len(files) < 4 {
		t.Errorf("the server has the files %v", files)
	}
}

// visit sends the requests of a caller after those of another one.
type visit struct {
	*serving
	schemaOf      func(string) *jsonschema.Schema
	secrets       []string
	check, bundle string // the last ones
}

func (v *visit) path(r *route, upgrade string) string {
	switch {
	case strings.HasPrefix(r.path, prefix+"config"):
		return r.path + "?release=none"
	case strings.HasPrefix(r.path, prefix+"nodes/"):
		return prefix + "nodes/route-node"
	case strings.Contains(r.path, "/support-bundles/"):
		return strings.ReplaceAll(r.path, "{id}", v.bundle)
	}
	return strings.NewReplacer("{name}", upgrade, "{id}", v.check).Replace(r.path)
}

// send reports whether the answer to a request is the expected one.
func (v *visit) send(t *testing.T, r *route, sent request, status int) (ok bool) {
	t.Helper()
	answer, body := v.serving.send(t, sent)
	for n := 1; status == http.StatusTooManyRequests && answer.StatusCode == http.StatusUnauthorized && n < 5; n++ {
		answer, body = v.serving.send(t, sent) // the limit is one of time: a slow test has not reached it
	}
	if location := answer.Header.Get("Location"); r.id == "CreateCheck" {
		v.check = cmp.Or(strings.TrimPrefix(location, prefix+"checks/"), v.check)
	}
	if r.id == "CreateSupportBundle" && answer.StatusCode == http.StatusAccepted {
		v.bundle = strings.TrimPrefix(answer.Header.Get("Location"), prefix+"support-bundles/")
		v.collected(t, v.bundle, sent)
	}
	ok = answer.StatusCode == status
	if !ok {
		t.Errorf("status is %d, want %d: %s", answer.StatusCode, status, body)
	}
	ok = hasNone(t, "the answer", string(body), v.secrets) && ok
	ok = hasNone(t, "the header of the answer", fmt.Sprint(answer.Header), v.secrets) && ok
	return checkAnswer(t, r, v.schemaOf, answer, body) && ok
}

// revoke deletes a ServiceAccount, and waits until the API server does not accept its token.
func (c *cluster) revoke(t *testing.T, name, token string) {
	t.Helper()
	must(t, c.Delete(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace}}))
	for end := time.Now().Add(wait); ; time.Sleep(100 * time.Millisecond) {
		review := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}
		must(t, c.Create(t.Context(), review))
		if !review.Status.Authenticated {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the API server still accepts the token of %s", name)
		}
	}
}

// hasNone fails the test if a text has one of the secrets, as it is or as base64.
func hasNone(t *testing.T, what, text string, secrets []string) (ok bool) {
	t.Helper()
	ok = true
	for _, secret := range secrets {
		if strings.Contains(text, secret) || strings.Contains(text, base64.StdEncoding.EncodeToString([]byte(secret))) {
			t.Errorf("%s has the secret %.12s…: %.2000s", what, secret, text)
			ok = false
		}
	}
	return ok
}

// buffer is the log of a server.
type buffer struct {
	mu      sync.Mutex
	content bytes.Buffer
}

// Write implements io.Writer.
func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.content.Write(p)
}

// String returns what was written.
func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.content.String()
}

// TestNamesThatKubernetesDoesNotPermit sends names that would be another path of the API server.
func TestNamesThatKubernetesDoesNotPermit(t *testing.T) {
	c := shared(t)
	operator := c.token(t, "operator", "refit-operator")
	log := &buffer{}
	s := c.serve(t, t.TempDir(), func(o *server.Options) { o.Log = slog.New(slog.NewJSONHandler(log, nil)) }).current(t, operator)
	for _, name := range []string{"%2e", "%2e%2e", "a%2Fb", "a%2Fstatus", "%25", "a%00", "a%0d%0ab", "a%3Fdry", "A", "%ff", strings.Repeat("a", 254)} {
		for _, r := range []request{
			{method: http.MethodPost, path: "/pause"},
			{method: http.MethodPost, path: "/approve", body: `{"plan":"` + hash + `"}`},
			{method: http.MethodPatch, body: `{"rollback":"Manual"}`, header: headers["ChangeOperation"]},
			{path: "/nodes"},
			{},
		} {
			r.path, r.token = prefix+"operations/"+name+r.path, operator
			if answer, body := s.send(t, r); answer.StatusCode != http.StatusNotFound && answer.StatusCode != http.StatusForbidden {
				t.Errorf("%s %s: %d %s", r.method, r.path, answer.StatusCode, body)
			}
		}
	}
	if strings.Contains(log.String(), "a request failed") {
		t.Errorf("the log is %s", log)
	}
}

// collected waits until a support bundle is complete: one is collected at a time.
func (s *serving) collected(t *testing.T, bundle string, as request) {
	t.Helper()
	for end := time.Now().Add(wait); ; time.Sleep(100 * time.Millisecond) {
		_, body := s.send(t, request{path: prefix + "support-bundles/" + bundle, token: as.token, cookie: as.cookie})
		if strings.Contains(string(body), `"state":"Complete"`) {
			return
		}
		if time.Now().After(end) || strings.Contains(string(body), `"state":"Failed"`) {
			t.Fatalf("the bundle is not complete: %s", body)
		}
	}
}

// last sorts the route that ends an upgrade behind the others.
func last(id string) string {
	if id == "AbortOperation" {
		return "~"
	}
	return id
}

// checkAnswer validates an answer against the schema of its route.
func checkAnswer(t *testing.T, r *route, schemaOf func(string) *jsonschema.Schema, answer *http.Response, body []byte) (ok bool) {
	t.Helper()
	kind := answer.Header.Get("Content-Type")
	if answer.StatusCode >= http.StatusBadRequest {
		if kind != "application/problem+json" {
			t.Errorf("the type of a problem is %q", kind)
			return false
		}
		return validate(t, schemaOf("#/components/schemas/Problem"), body)
	}
	described, found := r.Responses[strconv.Itoa(answer.StatusCode)]
	if !found {
		t.Errorf("openapi.yaml does not describe the status %d", answer.StatusCode)
		return false
	}
	if ref := described.Content["application/json"].Schema.Ref; ref != "" {
		return validate(t, schemaOf(ref), body)
	}
	return true
}
