// Package upgradeschedule tests schedules on a real API server, with the permissions of an
// installed controller and all admission policies.
package upgradeschedule
