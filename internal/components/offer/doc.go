// Package offer computes what a version of a component would change in the cluster, and what speaks
// against it.
//
//  1. Merge the values of the ClusterRelease and of the user, and check that the user may set them.
//  2. Render the chart twice: what differs is random and masked.
//  3. Compare with the manifest of the deployed revision of the Helm release.
//  4. Judge the CRDs with all live objects.
//  5. Evaluate the checks of the publisher.
//  6. Hash everything that an approval covers.
//
// It writes nothing. The offers in the status of a Component and the check of an order come from
// the same function, so that equal digests mean equal changes.
package offer
