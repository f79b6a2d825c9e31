// Package helm tests upgrades and rollbacks of Helm releases on real API servers. It kills each
// action before and after each of its writes and repeats it with new clients: no release stays
// locked, no object is left, and the final state is equal to that of an action that was not killed.
// Without nodes no Pod becomes ready, and the actions wait for none.
package helm
