// Package adoption installs Refit on clusters as users have them and upgrades them with content
// from mirrors in the layout of upstream: package repositories, downloads and a registry, each made
// by the tools that upstream uses. It also reads the metrics and the traces of an upgrade as users
// do.
package adoption
