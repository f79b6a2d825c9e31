package otlp

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	collectorv1 "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/refit-dev/refit/internal/upgrade/trace"
)

// receiver is a server that keeps what it receives and answers with a code.
type receiver struct {
	paths    []string
	requests []*collectorv1.ExportTraceServiceRequest
	headers  http.Header
	code     int
	answer   *collectorv1.ExportTraceServiceResponse
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, _ := io.ReadAll(request.Body)
	if request.Header.Get("Content-Encoding") == "gzip" {
		unzipped, err := gzip.NewReader(bytes.NewReader(body))
		if err == nil {
			body, _ = io.ReadAll(unzipped)
		}
	}
	var message collectorv1.ExportTraceServiceRequest
	if err := proto.Unmarshal(body, &message); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.paths, r.headers, r.requests = append(r.paths, request.URL.Path), request.Header, append(r.requests, &message)
	if r.answer != nil {
		w.Header().Set("Content-Type", "application/x-protobuf")
		content, _ := proto.Marshal(r.answer)
		_, _ = w.Write(content)
		return
	}
	w.WriteHeader(r.code)
}

// listen starts a receiver and puts its endpoint into the environment.
func listen(t *testing.T, code int) *receiver {
	t.Helper()
	r := &receiver{code: code}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	clearEnvironment(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.URL)
	return r
}

func clearEnvironment(t *testing.T) {
	t.Helper()
	for _, name := range []string{
		"OTEL_SDK_DISABLED", "OTEL_TRACES_EXPORTER", "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_PROTOCOL",
		"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_HEADERS", "OTEL_RESOURCE_ATTRIBUTES", "OTEL_SERVICE_NAME",
	} {
		t.Setenv(name, "")
	}
}

var began = time.Date(2026, 3, 2, 3, 0, 0, 0, time.UTC)

func someSpans() []trace.Span {
	root := trace.Span{Trace: trace.ID{1}, ID: trace.SpanID{2}, Kind: trace.KindOperation, Name: "upgrade to v1.36.3", Start: began, End: began.Add(time.Hour)}
	child := trace.Span{
		Trace: root.Trace, ID: trace.SpanID{3}, Parent: root.ID, Kind: trace.KindStage, Name: "Workers v1.36.3", Start: began, End: began.Add(time.Minute),
		Failed: true, Reason: "Aborted", Attributes: []trace.Attribute{{Key: "a", Text: "b"}, {Key: "n", Number: 0}},
	}
	return []trace.Span{root, child}
}

func received(t *testing.T, r *receiver) []*tracev1.Span {
	t.Helper()
	if len(r.requests) != 1 || len(r.requests[0].GetResourceSpans()) != 1 || len(r.requests[0].GetResourceSpans()[0].GetScopeSpans()) != 1 {
		t.Fatalf("received %v", r.requests)
	}
	return r.requests[0].GetResourceSpans()[0].GetScopeSpans()[0].GetSpans()
}

func TestACollectorReceivesTheSpansAsTheyAre(t *testing.T) {
	r := listen(t, http.StatusOK)
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20token")
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "k8s.cluster.name=north")
	e, err := New(t.Context(), "refit-controller")
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Export(t.Context(), someSpans()); err != nil {
		t.Fatal(err)
	}
	got := received(t, r)
	if len(got) != 2 || r.paths[0] != "/v1/traces" || r.headers.Get("Authorization") != "Bearer token" {
		t.Fatalf("%s received %v with %v", r.paths, got, r.headers)
	}
	root, child := got[0], got[1]
	if hex.EncodeToString(root.GetTraceId()) != "01"+strings.Repeat("0", 30) || hex.EncodeToString(root.GetSpanId()) != "02"+strings.Repeat("0", 14) || len(root.GetParentSpanId()) != 0 {
		t.Errorf("the root is %v", root)
	}
	if root.GetStartTimeUnixNano() != uint64(began.UnixNano()) || root.GetEndTimeUnixNano() != uint64(began.Add(time.Hour).UnixNano()) || root.GetStatus().GetCode() != tracev1.Status_STATUS_CODE_UNSET {
		t.Errorf("the root is %v", root)
	}
	if hex.EncodeToString(child.GetParentSpanId()) != hex.EncodeToString(root.GetSpanId()) || child.GetStatus().GetCode() != tracev1.Status_STATUS_CODE_ERROR || child.GetStatus().GetMessage() != "Aborted" {
		t.Errorf("the child is %v", child)
	}
	if a := child.GetAttributes(); len(a) != 2 || a[0].GetValue().GetStringValue() != "b" || a[1].GetValue().GetIntValue() != 0 {
		t.Errorf("the attributes are %v", a)
	}
	resource := r.requests[0].GetResourceSpans()[0].GetResource().String()
	for _, want := range []string{"refit-controller", "north"} {
		if !strings.Contains(resource, want) {
			t.Errorf("the resource %s has no %s", resource, want)
		}
	}
}

// The caller decides whether to retry, and counts.
func TestACollectorThatRefusesIsAnErrorAfterOneRequest(t *testing.T) {
	for _, code := range []int{http.StatusServiceUnavailable, http.StatusTooManyRequests, http.StatusBadGateway} {
		r := listen(t, code)
		e, err := New(t.Context(), "refit-controller")
		if err != nil {
			t.Fatal(err)
		}
		err = e.Export(t.Context(), someSpans())
		if _, rejected := errors.AsType[*RejectedError](err); rejected || err == nil || !strings.Contains(err.Error(), "cannot export traces") {
			t.Errorf("%d: %v", code, err)
		}
		if len(r.requests) != 1 {
			t.Errorf("%d: %d requests", code, len(r.requests))
		}
	}
}

func TestAnswersThatForbidARetry(t *testing.T) {
	partly := func(rejected int64, message string) *collectorv1.ExportTraceServiceResponse {
		return &collectorv1.ExportTraceServiceResponse{PartialSuccess: &collectorv1.ExportTracePartialSuccess{RejectedSpans: rejected, ErrorMessage: message}}
	}
	for situation, c := range map[string]struct {
		receiver receiver
		rejected int
	}{
		"a bad request":           {receiver{code: http.StatusBadRequest}, 2},
		"no permission":           {receiver{code: http.StatusUnauthorized}, 2},
		"a span is rejected":      {receiver{answer: partly(1, "too\nold")}, 1},
		"rejected without reason": {receiver{answer: partly(2, "")}, 2},
		"only a warning":          {receiver{answer: partly(0, "deprecated")}, 0},
		"a senseless number":      {receiver{answer: partly(1000, "x")}, 2},
	} {
		t.Run(situation, func(t *testing.T) {
			r := listen(t, c.receiver.code)
			r.answer = c.receiver.answer
			e, err := New(t.Context(), "refit-controller")
			if err != nil {
				t.Fatal(err)
			}
			err = e.Export(t.Context(), someSpans())
			rejected, is := errors.AsType[*RejectedError](err)
			if !is || rejected.Spans != c.rejected || len(r.requests) != 1 {
				t.Errorf("%v after %d requests, want %d rejected spans", err, len(r.requests), c.rejected)
			}
		})
	}
	t.Run("nobody listens", func(t *testing.T) {
		clearEnvironment(t)
		t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
		e, err := New(t.Context(), "refit-controller")
		if err != nil {
			t.Fatal(err)
		}
		err = e.Export(t.Context(), someSpans())
		if _, rejected := errors.AsType[*RejectedError](err); rejected || err == nil {
			t.Error(err)
		}
	})
}

func TestTracesAreOffWithoutAnEndpoint(t *testing.T) {
	for situation, c := range map[string]struct {
		set  map[string]string
		want string
	}{
		"nothing is set":        {nil, ""},
		"an endpoint":           {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://a:4318"}, "http://a:4318"},
		"one for traces":        {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://a", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://b/x"}, "http://b/x"},
		"the SDK is disabled":   {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://a", "OTEL_SDK_DISABLED": "true"}, ""},
		"traces are not wanted": {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://a", "OTEL_TRACES_EXPORTER": "none"}, ""},
	} {
		t.Run(situation, func(t *testing.T) {
			clearEnvironment(t)
			for name, value := range c.set {
				t.Setenv(name, value)
			}
			if got := Endpoint(); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestSettingsThatCannotWorkAreErrors(t *testing.T) {
	for situation, set := range map[string]map[string]string{
		"no URL":           {"OTEL_EXPORTER_OTLP_ENDPOINT": "collector:4318"},
		"no host":          {"OTEL_EXPORTER_OTLP_ENDPOINT": "http:///v1"},
		"another protocol": {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://a:4317", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
	} {
		t.Run(situation, func(t *testing.T) {
			clearEnvironment(t)
			for name, value := range set {
				t.Setenv(name, value)
			}
			if _, err := New(t.Context(), "refit-controller"); err == nil {
				t.Error("it is accepted")
			}
		})
	}
}
