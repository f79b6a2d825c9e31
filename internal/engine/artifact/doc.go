// Package artifact reads signed ClusterReleases and brings their files onto a host: verified by a pinned key, fetched from several sources into a
// store that is addressed by content, and asked what they are before anybody relies on them.
package artifact
