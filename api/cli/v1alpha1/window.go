package v1alpha1

import "time"

// KindWindow is the kind of the document about a MaintenanceWindow.
const KindWindow = "Window"

// Window is the result of `refit window next`.
type Window struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Cluster    string `json:"cluster"`

	Name     string `json:"name"`
	TimeZone string `json:"timeZone"`
	Open     bool   `json:"open"`               // now
	Blackout string `json:"blackout,omitempty"` // the one in progress
	// Problem is why the window never opens; empty if it does.
	Problem string `json:"problem,omitempty"`
	// Openings are the present one and the next ones, in the time zone of the window.
	Openings []WindowOpening `json:"openings,omitempty"`
}

// WindowOpening is a period in which a window is open.
type WindowOpening struct {
	Open    time.Time `json:"open"`
	Close   time.Time `json:"close"`
	Seconds int64     `json:"seconds"`
}
