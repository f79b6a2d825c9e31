// Package settings holds what is decided on the host itself and never by an order: where files come from, which keys are trusted, what kubeadm needs to
// know about this host, and where everything lies.
package settings
