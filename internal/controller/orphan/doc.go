// Package orphan lifts cordons that an operation left behind which is not there any more, because somebody took its finalizer away. What marks no operation of
// ours is never touched.
package orphan
