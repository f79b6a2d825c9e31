package trace

import (
	"crypto/sha256"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Kind is what a span describes. It is the attribute AttributeKind.
type Kind string

// The kinds, each the parent of the next one.
const (
	KindOperation Kind = "operation"
	KindStage     Kind = "stage"
	KindNode      Kind = "node"
	KindStep      Kind = "step"
)

// The attributes. docs/traces.md describes them.
const (
	AttributeKind           = "refit.kind"
	AttributeOperation      = "refit.operation.name"
	AttributeOperationUID   = "refit.operation.uid"
	AttributePhase          = "refit.phase"
	AttributeFrom           = "refit.version.from"
	AttributeTo             = "refit.version.to"
	AttributePlan           = "refit.plan.hash"
	AttributeStage          = "refit.stage"
	AttributeNode           = "k8s.node.name"
	AttributeRole           = "refit.node.role"
	AttributeAttempt        = "refit.attempt"
	AttributeStep           = "refit.step"
	AttributeNodesTotal     = "refit.nodes.total"
	AttributeNodesDone      = "refit.nodes.done"
	AttributeNodesFailed    = "refit.nodes.failed"
	AttributeNodesSkipped   = "refit.nodes.skipped"
	AttributeFailureClass   = "refit.failure.class"
	AttributeFailureReason  = "refit.failure.reason"
	AttributeFailureStep    = "refit.failure.step"
	AttributeAgentVersion   = "refit.agent.version"
	AttributeBackup         = "refit.backup.name"
	AttributeDrainRemaining = "refit.drain.remaining"
)

// ID is the ID of a trace of OpenTelemetry.
type ID [16]byte

// SpanID is the ID of a span of OpenTelemetry.
type SpanID [8]byte

// Span is something that has ended.
type Span struct {
	Trace      ID
	ID         SpanID
	Parent     SpanID // zero: none
	Kind       Kind
	Name       string
	Start, End time.Time
	// Failed is set if it failed; Reason is why.
	Failed     bool
	Reason     string
	Attributes []Attribute
}

// Attribute is a property of a span: a text, or a number if the text is empty.
type Attribute struct {
	Key    string
	Text   string
	Number int64
}

// traceOf is the trace of an operation.
func traceOf(operation types.UID) (id ID) {
	sum := sha256.Sum256([]byte("trace\x00" + string(operation)))
	copy(id[:], sum[:])
	return id
}

// spanOf is the span of a part of an operation.
func spanOf(operation types.UID, path ...string) (id SpanID) {
	sum := sha256.Sum256([]byte("span\x00" + string(operation) + "\x00" + strings.Join(path, "\x00")))
	copy(id[:], sum[:])
	return id
}

// text adds an attribute, unless it is empty.
func (s *Span) text(key, value string) {
	if value != "" {
		s.Attributes = append(s.Attributes, Attribute{Key: key, Text: value})
	}
}

func (s *Span) number(key string, value int64) {
	s.Attributes = append(s.Attributes, Attribute{Key: key, Number: value})
}

// fail marks the span as failed.
func (s *Span) fail(reason string) { s.Failed, s.Reason = true, reason }

// within returns a child of the span.
func (s *Span) within(operation types.UID, kind Kind, name string, path ...string) Span {
	child := Span{Trace: s.Trace, ID: spanOf(operation, path...), Parent: s.ID, Kind: kind, Name: name}
	child.text(AttributeKind, string(kind))
	return child
}

// cover extends the span so that it contains another one.
func (s *Span) cover(other *Span) {
	if s.Start.IsZero() || other.Start.Before(s.Start) {
		s.Start = other.Start
	}
	if other.End.After(s.End) {
		s.End = other.End
	}
}
