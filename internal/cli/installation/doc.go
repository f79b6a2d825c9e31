// Package installation runs `refit install` and `refit uninstall`: it chooses what is installed,
// reports progress to the user and builds the resulting documents.
package installation
