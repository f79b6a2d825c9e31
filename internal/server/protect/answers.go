package protect

import (
	"net/http"
	"time"
)

// pieceBytes is how much of an answer a client has to receive within the timeout.
const pieceBytes = 32 << 10

// timed limits the time in which a client receives each piece of an answer. One that stops reading
// would keep its handler forever.
func timed(timeout time.Duration) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			out := &timedWriter{ResponseWriter: w, control: http.NewResponseController(w), timeout: timeout}
			defer out.limit() // the server writes what is buffered, and removes the deadline
			next.ServeHTTP(out, r)
		})
	}
}

// timedWriter writes an answer in pieces with deadlines, unless the handler sets its own.
type timedWriter struct {
	http.ResponseWriter
	control *http.ResponseController
	timeout time.Duration
	own     bool // the handler sets the deadlines
}

// Unwrap is for http.ResponseController.
func (w *timedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// SetWriteDeadline is for http.ResponseController.
func (w *timedWriter) SetWriteDeadline(deadline time.Time) error {
	w.own = true
	return w.control.SetWriteDeadline(deadline)
}

// limit begins a deadline. Only tests have writers without.
func (w *timedWriter) limit() { _ = w.control.SetWriteDeadline(time.Now().Add(w.timeout)) }

// Write implements http.ResponseWriter.
func (w *timedWriter) Write(p []byte) (n int, err error) {
	if w.own {
		return w.ResponseWriter.Write(p)
	}
	for {
		w.limit()
		written, err := w.ResponseWriter.Write(p[:min(len(p), pieceBytes)])
		if n, p = n+written, p[written:]; err != nil {
			return n, err
		}
		if len(p) == 0 {
			// With HTTP/2, a deadline ends the stream, even while nothing is written.
			return n, w.control.SetWriteDeadline(time.Time{})
		}
	}
}
