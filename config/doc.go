// Package config holds what `refit install` brings into a cluster: definitions, rights, policies, the controller and what places agents. The files can be
// applied with kubectl as they are, but for those of agent and controller, which lack the names of their images.
package config
