// Package controller runs all controllers together: in the cluster as a Deployment, or outside it
// in the process of the CLI.
package controller
