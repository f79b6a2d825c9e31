// Package components is `refit components`: the changes that an upgrade would make to a component,
// computed with the permissions of the user, and the permission for Refit to take over a Helm
// release.
package components
