package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
)

// progressHandler prints log records as lines for an operator, beside the progress of a command.
type progressHandler struct{ to io.Writer }

func (progressHandler) Enabled(_ context.Context, level slog.Level) bool {
	return level >= slog.LevelInfo
}

func (h progressHandler) Handle(_ context.Context, r slog.Record) error {
	line := r.Message
	r.Attrs(func(a slog.Attr) bool {
		line += fmt.Sprintf(", %s %v", a.Key, a.Value)
		return true
	})
	_, err := fmt.Fprintln(h.to, line)
	return err
}

func (h progressHandler) WithAttrs([]slog.Attr) slog.Handler { return h }
func (h progressHandler) WithGroup(string) slog.Handler      { return h }
