package server

import "time"

// Publish publishes an event, for tests of the package from outside.
func (s *Server) Publish(kind string, data []byte) { s.ring.Publish(kind, data) }

// Streams is the number of clients that stay.
func (s *Server) Streams() int64 { return s.streams.Load() }

// ReviewEvery sets the time between two reviews of callers who stay, before there are any.
func (s *Server) ReviewEvery(interval time.Duration) { s.reviewInterval = interval }

// HoldDisk lets each save of the state wait until the returned function is called.
func (s *Server) HoldDisk() (release func()) {
	s.saving.Lock()
	return s.saving.Unlock
}
