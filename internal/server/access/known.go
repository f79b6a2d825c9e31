package access

// HasAdmitted reports whether a token was admitted and is remembered. It may be revoked since.
func (g *Gate) HasAdmitted(token string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	found, is := g.users[keyOf(token)]
	return is && found.err == nil
}

// HasSession reports whether a cookie is that of a session. Its token may be revoked since.
func (g *Gate) HasSession(secret string) bool {
	s, k := g.sessions, keyOf(secret)
	s.mu.Lock()
	defer s.mu.Unlock()
	_, closed := s.closed[k.name()]
	return closed || s.open[k] != nil
}
