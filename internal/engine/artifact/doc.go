// Package artifact verifies signed ClusterReleases with keys that are pinned on the host, fetches
// their files from several sources into a content-addressed store, and checks platform and version
// of every file before it is used.
package artifact
