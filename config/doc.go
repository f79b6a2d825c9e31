// Package config holds the manifests that `refit install` applies: CRDs, RBAC, admission policies,
// the controller, refit-components and the DaemonSet of the agents. kubectl can apply the files as
// they are, except those of agent, components and controller, in which the images are missing.
package config
