// Package orphan lifts the cordons of operations that no longer exist, as when a user removed their
// finalizer. It never touches a cordon that Refit did not set.
package orphan
