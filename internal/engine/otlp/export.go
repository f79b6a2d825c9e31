package otlp

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
	spans "github.com/refit-dev/refit/internal/upgrade/trace"
)

// Exporter sends spans to a collector.
type Exporter struct {
	to       *otlptrace.Exporter
	resource *resource.Resource
}

// exportTimeout bounds one request; OTEL_EXPORTER_OTLP_TIMEOUT cannot raise it.
const exportTimeout = 10 * time.Second

// maxError bounds the text of an error, which may have a whole response of the collector.
const maxError = 512

// endpoints are the variables that have the URL of a collector.
var endpoints = []string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"}

// Endpoint returns the URL of the collector in the environment; empty means that no spans are
// exported.
func Endpoint() string {
	if strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true") || os.Getenv("OTEL_TRACES_EXPORTER") == "none" {
		return ""
	}
	for _, name := range endpoints {
		if value := strings.TrimSpace(os.Getenv(name)); value != "" {
			return value
		}
	}
	return ""
}

// CheckEndpoint reports why a URL is not the endpoint of a collector.
func CheckEndpoint(endpoint string) error {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("%q is not a URL such as http://collector.example:4318", endpoint)
	}
	return nil
}

// New makes an exporter for the collector in the environment. It sends nothing yet.
func New(ctx context.Context, service string) (*Exporter, error) {
	if err := CheckEndpoint(Endpoint()); err != nil {
		return nil, err
	}
	for _, name := range []string{"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"} {
		if protocol := os.Getenv(name); protocol != "" && protocol != "http/protobuf" {
			return nil, fmt.Errorf("%s is %q: only http/protobuf is supported", name, protocol)
		}
	}
	about, err := resource.New(ctx, resource.WithAttributes(semconv.ServiceName(service)), resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("cannot read the resource attributes of traces: %w", err)
	}
	to, err := otlptracehttp.New(ctx, otlptracehttp.WithRetry(otlptracehttp.RetryConfig{})) // the caller retries
	if err != nil {
		return nil, fmt.Errorf("cannot make an exporter of traces: %w", err)
	}
	return &Exporter{to: to, resource: about}, nil
}

// RejectedError is the error of spans that the collector has received and does not take: sending
// them again would not help.
type RejectedError struct {
	Spans int // of those that were sent
	cause string
}

func (r *RejectedError) Error() string { return "the collector rejected traces: " + r.cause }

// partial matches the error of a request of which the collector rejected some spans. The library
// has no exported types for its errors.
var partial = regexp.MustCompile(`OTLP partial success: (?s:.*) \(([0-9]+) spans rejected\)`)

// rejectedOf returns how many spans a collector rejected, if it answered so that the request must
// not be repeated: a partial success, or a status other than those of an overloaded collector.
func rejectedOf(err error, sent int) (rejected int, is bool) {
	text := err.Error()
	if found := partial.FindStringSubmatch(text); found != nil {
		rejected, err := strconv.Atoi(found[1])
		if err != nil || rejected > sent {
			rejected = sent
		}
		return rejected, true
	}
	return sent, strings.Contains(text, "failed to send to ") || strings.Contains(text, "request body too large")
}

// Export sends spans, once. The error is a RejectedError if it is useless to send them again.
func (e *Exporter) Export(ctx context.Context, all []spans.Span) error {
	ctx, cancel := context.WithTimeout(ctx, exportTimeout)
	defer cancel()
	out := make([]trace.ReadOnlySpan, 0, len(all))
	for i := range all {
		out = append(out, readOnly(&all[i], e.resource))
	}
	if err := e.to.ExportSpans(ctx, out); err != nil {
		if rejected, is := rejectedOf(err, len(out)); is {
			return &RejectedError{Spans: rejected, cause: refitv1alpha1.Clip(err.Error(), maxError)}
		}
		return fmt.Errorf("cannot export traces: %s", refitv1alpha1.Clip(err.Error(), maxError))
	}
	return nil
}

// Close ends the exporter.
func (e *Exporter) Close(ctx context.Context) error { return e.to.Shutdown(ctx) }
