// Package checks runs checks of upgrades in the background and keeps their results for a limited
// time, for their owners only.
package checks
