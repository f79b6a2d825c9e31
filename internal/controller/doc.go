// Package controller puts the controllers together. They run in the same way in the cluster, as a Deployment, and outside it, in the CLI's process.
package controller
