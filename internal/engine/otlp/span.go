package otlp

import (
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"
	oteltrace "go.opentelemetry.io/otel/trace"

	spans "github.com/refit-dev/refit/internal/upgrade/trace"
)

// scope names the source of the spans.
const scope = "github.com/refit-dev/refit"

// span is a span that has ended. A tracer makes spans of the present with random IDs, and these are
// of the past, with IDs of their own.
type span struct {
	trace.ReadOnlySpan // its unexported method

	from     *spans.Span
	resource *resource.Resource
}

func readOnly(s *spans.Span, about *resource.Resource) trace.ReadOnlySpan {
	return &span{from: s, resource: about}
}

func (s *span) context(id spans.SpanID) oteltrace.SpanContext {
	return oteltrace.NewSpanContext(oteltrace.SpanContextConfig{
		TraceID: oteltrace.TraceID(s.from.Trace), SpanID: oteltrace.SpanID(id), TraceFlags: oteltrace.FlagsSampled,
	})
}

func (s *span) Name() string                       { return s.from.Name }
func (s *span) SpanContext() oteltrace.SpanContext { return s.context(s.from.ID) }
func (s *span) SpanKind() oteltrace.SpanKind       { return oteltrace.SpanKindInternal }
func (s *span) StartTime() time.Time               { return s.from.Start }
func (s *span) EndTime() time.Time                 { return s.from.End }
func (s *span) Links() []trace.Link                { return nil }
func (s *span) Events() []trace.Event              { return nil }
func (s *span) DroppedAttributes() int             { return 0 }
func (s *span) DroppedLinks() int                  { return 0 }
func (s *span) DroppedEvents() int                 { return 0 }
func (s *span) ChildSpanCount() int                { return 0 }
func (s *span) Resource() *resource.Resource       { return s.resource }

// Parent returns an invalid context for a span without a parent.
func (s *span) Parent() oteltrace.SpanContext {
	if (s.from.Parent == spans.SpanID{}) {
		return oteltrace.SpanContext{}
	}
	return s.context(s.from.Parent)
}

func (s *span) Status() trace.Status {
	if s.from.Failed {
		return trace.Status{Code: codes.Error, Description: s.from.Reason}
	}
	return trace.Status{Code: codes.Unset}
}

func (s *span) InstrumentationScope() instrumentation.Scope {
	return instrumentation.Scope{Name: scope}
}

// InstrumentationLibrary is the former name of InstrumentationScope.
func (s *span) InstrumentationLibrary() instrumentation.Scope { return s.InstrumentationScope() }

func (s *span) Attributes() []attribute.KeyValue {
	out := make([]attribute.KeyValue, 0, len(s.from.Attributes))
	for _, a := range s.from.Attributes {
		if a.Text == "" {
			out = append(out, attribute.Int64(a.Key, a.Number))
			continue
		}
		out = append(out, attribute.String(a.Key, a.Text))
	}
	return out
}
