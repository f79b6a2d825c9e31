// Package orphan lifts the cordons of operations that no longer exist, as when a user removed their
// finalizer, and lets autoscalers remove their nodes again. It never touches a cordon or an
// annotation that Refit did not set.
package orphan
