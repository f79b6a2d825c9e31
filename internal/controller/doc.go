// Package controller runs controllers together: in the cluster as a Deployment, or outside it in
// the process of the CLI. A command passes it the list of controllers. The package elects the
// leader, restarts controllers that lose leadership, and reports whether they make progress.
package controller
