package node

// APIServerStopped reports whether swap-etcd or swap-apiserver may have stopped the API server, and
// swap-apiserver has not started the new one. An agent that waits or ends in this state restores
// the old one first; in every other state the manifest is not the agent's to restore.
func (s *State) APIServerStopped() bool {
	return s.Outcome == "" && (s.IsStarted(StepEtcd) || s.IsStarted(StepAPIServer)) && !s.IsDone(StepAPIServer)
}

// IsOpen reports whether a step has started and is not done, so that it may have stopped what it
// replaces.
func (s *State) IsOpen(step string) bool {
	return s.Outcome == "" && s.IsStarted(step) && !s.IsDone(step)
}
