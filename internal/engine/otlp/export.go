package otlp

import (
	"context"
	"fmt"
	"net/url"
	"os"
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

// Export sends spans, once.
func (e *Exporter) Export(ctx context.Context, all []spans.Span) error {
	ctx, cancel := context.WithTimeout(ctx, exportTimeout)
	defer cancel()
	out := make([]trace.ReadOnlySpan, 0, len(all))
	for i := range all {
		out = append(out, readOnly(&all[i], e.resource))
	}
	if err := e.to.ExportSpans(ctx, out); err != nil {
		return fmt.Errorf("cannot export traces: %s", refitv1alpha1.Clip(err.Error(), maxError))
	}
	return nil
}

// Close ends the exporter.
func (e *Exporter) Close(ctx context.Context) error { return e.to.Shutdown(ctx) }
