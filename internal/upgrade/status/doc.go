// Package status derives the status of a ClusterUpgrade from an assessment: conditions as kstatus
// reads them, the phase, the plan with the progress of its stages, and what the operation waits
// for. Every text is clipped to the bounds of the API package, so that the CRD accepts it.
package status
