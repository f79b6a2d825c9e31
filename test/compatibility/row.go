package compatibility

// Status is what is known about a kind of cluster or host.
type Status string

// The statuses.
const (
	Tested   Status = "tested"   // a test runs it
	Expected Status = "expected" // nothing in the code excludes it, and no test runs it
	Refused  Status = "refused"  // it is rejected before anything changes
	Skipped  Status = "skipped"  // the upgrade leaves it as it is
)

// Row is a kind of cluster or host.
type Row struct {
	Kind   string
	Status Status
	// Note restricts the status, or describes what Refit does.
	Note string
	// Tests run the kind: functions of end-to-end or API-server tests, with a subtest if only that
	// one does.
	Tests []string
	// Checks are the preflight checks that refuse or report the kind.
	Checks []string
	// Reasons are those of agents and controllers that refuse it.
	Reasons []string
	// Evidence is everything else.
	Evidence string
}

// Section is a part of the page.
type Section struct {
	Title string
	Rows  []Row
}
