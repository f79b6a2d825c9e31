package steps

import (
	"context"
	"fmt"
	"log/slog"
)

// hidingHandler hides values of Secrets in what Helm logs: the API server quotes the values that it
// refuses.
type hidingHandler struct {
	slog.Handler

	hide func(string) string
}

// Handle implements slog.Handler.
func (h hidingHandler) Handle(ctx context.Context, record slog.Record) error {
	hidden := slog.NewRecord(record.Time, record.Level, h.hide(record.Message), record.PC)
	record.Attrs(func(a slog.Attr) bool {
		hidden.AddAttrs(h.hidden(a))
		return true
	})
	return h.Handler.Handle(ctx, hidden)
}

// WithAttrs implements slog.Handler.
func (h hidingHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	hidden := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		hidden[i] = h.hidden(a)
	}
	return hidingHandler{h.Handler.WithAttrs(hidden), h.hide}
}

// WithGroup implements slog.Handler.
func (h hidingHandler) WithGroup(name string) slog.Handler {
	return hidingHandler{h.Handler.WithGroup(name), h.hide}
}

func (h hidingHandler) hidden(a slog.Attr) slog.Attr {
	value := a.Value.Resolve()
	switch value.Kind() {
	case slog.KindGroup:
		var members []slog.Attr
		for _, member := range value.Group() {
			members = append(members, h.hidden(member))
		}
		return slog.Attr{Key: a.Key, Value: slog.GroupValue(members...)}
	case slog.KindString, slog.KindAny:
		return slog.String(a.Key, h.hide(fmt.Sprint(value.Any())))
	case slog.KindBool, slog.KindDuration, slog.KindFloat64, slog.KindInt64, slog.KindLogValuer, slog.KindTime, slog.KindUint64:
	}
	return slog.Attr{Key: a.Key, Value: value}
}
