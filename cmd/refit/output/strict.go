package output

// Strictly lets findings block that wait for an agent or a Release: a plan can be shown without their answers, an upgrade does not start before.
func (r *Report) Strictly() {
	for i := range r.Findings {
		if f := &r.Findings[i]; f.Deferred && f.Waived == nil {
			f.Deferred, f.Blocks = false, true
			r.Counts.Deferred--
			r.Counts.Block++
		}
	}
	r.Blocked = r.Counts.Block > 0
}
