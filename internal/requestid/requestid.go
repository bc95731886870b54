// Package requestid holds the id of a request in its context, where logs find it.
package requestid

import (
	"context"
	"log/slog"
)

// Attribute is the name of the id in logs.
const Attribute = "request_id"

type key struct{}

// With returns a context with the id of its request.
func With(ctx context.Context, id string) context.Context { return context.WithValue(ctx, key{}, id) }

// From returns the id of the request that ctx belongs to; empty if there is none.
func From(ctx context.Context) string {
	id, _ := ctx.Value(key{}).(string)
	return id
}

// Logger returns a logger that adds the id of the request to every record that is written
// with the request's context.
func Logger(logger *slog.Logger) *slog.Logger {
	if _, ok := logger.Handler().(handler); ok {
		return logger
	}
	return slog.New(handler{logger.Handler()})
}

type handler struct{ slog.Handler }

// Handle implements slog.Handler.
func (h handler) Handle(ctx context.Context, record slog.Record) error {
	if id := From(ctx); id != "" && !hasID(record) {
		record = record.Clone()
		record.AddAttrs(slog.String(Attribute, id))
	}
	return h.Handler.Handle(ctx, record)
}

func hasID(record slog.Record) bool {
	found := false
	record.Attrs(func(a slog.Attr) bool {
		found = a.Key == Attribute
		return !found
	})
	return found
}

// WithAttrs implements slog.Handler.
func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return handler{h.Handler.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (h handler) WithGroup(name string) slog.Handler { return handler{h.Handler.WithGroup(name)} }
